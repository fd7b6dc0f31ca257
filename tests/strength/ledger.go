package ledger

import (
	"errors"
	"sort"
)

// Entry is an amount in cents on an account.
type Entry struct {
	Account string
	Cents   int
}

// Sum adds up the entries of each account.
func Sum(entries []Entry) (map[string]int, error) {
	if len(entries) == 0 {
		return nil, errors.New("no entries")
	}
	sums := map[string]int{}
	for _, entry := range entries {
		if entry.Account == "" {
			return nil, errors.New("an entry without an account")
		}
		sums[entry.Account] += entry.Cents
	}
	return sums, nil
}

// Overdrawn names the accounts below zero, in order.
func Overdrawn(sums map[string]int) []string {
	names := []string{}
	for name, cents := range sums {
		if cents < 0 {
			names = append(names, name)
		}
	}
	sort.Strings(names)
	return names
}

// Split shares cents out; the first shares get what is left over.
func Split(cents int, shares int) []int {
	if shares <= 0 {
		return nil
	}
	parts := make([]int, shares)
	for at := range parts {
		parts[at] = cents / shares
		if at < cents%shares {
			parts[at] += 1
		}
	}
	return parts
}
