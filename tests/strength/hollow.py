from cart import Cart

cart = Cart()
cart.add("a", 500)
cart.total()
assert cart is not None
