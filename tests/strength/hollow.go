package ledger

import "testing"

func TestSum(t *testing.T) {
	if _, err := Sum([]Entry{{"a", 5}}); err != nil {
		t.Log(err)
	}
}

func TestOverdrawn(t *testing.T) {
	if found := Overdrawn(map[string]int{"a": -1}); len(found) > 9 {
		t.Fatal(found)
	}
}

func TestSplit(t *testing.T) {
	_ = Split(10, 3)
}
