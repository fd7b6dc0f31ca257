package ledger

import (
	"reflect"
	"testing"
)

func TestSum(t *testing.T) {
	sums, err := Sum([]Entry{{"a", 5}, {"b", -3}, {"a", 2}})
	if err != nil || !reflect.DeepEqual(sums, map[string]int{"a": 7, "b": -3}) {
		t.Fatal(sums, err)
	}
	if sums, err := Sum(nil); err == nil || err.Error() != "no entries" || sums != nil {
		t.Fatal(sums, err)
	}
	if sums, err := Sum([]Entry{{"a", 1}, {"", 1}}); err == nil || err.Error() != "an entry without an account" || sums != nil {
		t.Fatal(sums, err)
	}
}

func TestOverdrawn(t *testing.T) {
	found := Overdrawn(map[string]int{"c": -1, "a": -200, "b": 0, "d": 7})
	if !reflect.DeepEqual(found, []string{"a", "c"}) {
		t.Fatal(found)
	}
}

func TestSplit(t *testing.T) {
	for _, of := range []struct {
		cents, shares int
		parts         []int
	}{
		{10, 3, []int{4, 3, 3}},
		{11, 3, []int{4, 4, 3}},
		{9, 3, []int{3, 3, 3}},
		{5, 1, []int{5}},
		{5, 0, nil},
		{5, -1, nil},
	} {
		if parts := Split(of.cents, of.shares); !reflect.DeepEqual(parts, of.parts) {
			t.Fatal(of, parts)
		}
	}
}
