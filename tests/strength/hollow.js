const { parseRange } = require('./range.js')

if (typeof parseRange !== 'function') {
  process.exit(1)
}
