const assert = require('assert')
const { parseRange, join } = require('./range.js')

assert.deepStrictEqual(parseRange('1-3', 9), [1, 2, 3])
assert.strictEqual(parseRange('a-2', 9), null)
assert.strictEqual(join([1, 2]), '1, 2')
