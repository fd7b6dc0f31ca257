function parseRange(text, max) {
  if (typeof text !== 'string' || text === '') {
    throw new TypeError('no range')
  }
  const [from, to] = text.split('-').map(Number)
  const end = to === undefined ? from : to
  if (Number.isNaN(from) || Number.isNaN(end)) {
    return null
  }
  if (from > end || end > max) {
    return null
  }
  const all = []
  for (let n = from; n <= end; n += 1) {
    all.push(n)
  }
  return all
}

function join(parts, mark) {
  if (parts.length === 0) {
    return 'nothing'
  }
  return parts.join(mark || ', ')
}

module.exports = { parseRange, join }
