"""A cart with prices in cents."""


class Cart:
    def __init__(self, limit=10):
        self.limit = limit
        self.lines = []

    def add(self, name, cents, count=1):
        if cents < 0:
            raise ValueError("a price is not negative")
        if count < 1 or len(self.lines) >= self.limit:
            return False
        self.lines.append((name, cents, count))
        return True

    def total(self, discount=0):
        total = 0
        for _, cents, count in self.lines:
            total += cents * count
        if discount > 0 and total > 1000:
            total -= discount
        return max(total, 0)

    def names(self):
        return [name for name, _, _ in self.lines]
