from cart import Cart

cart = Cart(limit=3)
assert cart.total() == 0
assert cart.add("a", 500) is True
assert cart.add("b", 300, 2) is True
assert cart.names() == ["a", "b"]
assert cart.total() == 1100
assert cart.total(discount=100) == 1000
assert cart.total(discount=1) == 1099
assert cart.add("c", 1, 0) is False
assert cart.add("c", 0) is True
assert cart.add("d", 5) is False
assert cart.total() == 1100

small = Cart()
assert small.limit == 10
small.add("a", 1000)
assert small.total(discount=100) == 1000
small.add("a", 1)
assert small.total(discount=100) == 901
assert small.total(discount=0) == 1001
assert small.total(discount=5000) == 0
try:
    small.add("x", -1)
except ValueError as error:
    assert str(error) == "a price is not negative"
else:
    raise AssertionError("it takes a negative price")
