const assert = require('assert')
const { parseRange, join } = require('./range.js')

assert.deepStrictEqual(parseRange('1-3', 9), [1, 2, 3])
assert.deepStrictEqual(parseRange('2', 9), [2])
assert.deepStrictEqual(parseRange('9-9', 9), [9])
assert.strictEqual(parseRange('3-1', 9), null)
assert.strictEqual(parseRange('1-10', 9), null)
assert.strictEqual(parseRange('a-2', 9), null)
assert.strictEqual(parseRange('1-b', 9), null)
for (const bad of ['', 7, undefined]) {
  assert.throws(() => parseRange(bad, 9), { name: 'TypeError', message: 'no range' })
}
assert.strictEqual(join([], '+'), 'nothing')
assert.strictEqual(join([1, 2]), '1, 2')
assert.strictEqual(join([1, 2], '+'), '1+2')
