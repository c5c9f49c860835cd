package rowjson

import (
	"fmt"
	"sync"
	"testing"
)

func TestKnown(t *testing.T) {
	k := NewKnown()
	raw := []byte("row 0")
	k.Add(raw, 0)
	raw[0] = 'x' // it has a copy
	if _, ok := k.Find(raw); ok {
		t.Error("found what no one added")
	}
	var all sync.WaitGroup
	for w := range 4 {
		all.Go(func() {
			for i := range 1000 {
				k.Add(fmt.Appendf(nil, "row %d", i), int32(i))
				if row, ok := k.Find(fmt.Appendf(nil, "row %d", i)); !ok || row != int32(i) {
					t.Errorf("worker %d: row %d is %d, %v", w, i, row, ok)
				}
			}
		})
	}
	all.Wait()
}

func TestKnown_Full(t *testing.T) {
	k := NewKnown()
	k.left.Store(10)
	k.Add([]byte("12345678"), 1)
	k.Add([]byte("abcdefgh"), 2)
	if _, ok := k.Find([]byte("12345678")); !ok {
		t.Error("the first row is not there")
	}
	if _, ok := k.Find([]byte("abcdefgh")); ok {
		t.Error("more was kept than there is room for")
	}
}

func BenchmarkSplit(b *testing.B) {
	body := []byte(`{"count":812,"chairs":[`)
	for i := range 25 {
		if i > 0 {
			body = append(body, ',')
		}
		body = fmt.Appendf(body, `{"id":%d,"name":"ゆったりふわふわのチェア","description":"座り心地のよい椅子です。長い時間座っていても疲れません。お部屋の雰囲気にもよく合います。","thumbnail":"/images/chair/0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef.png","price":%d,"height":50,"width":60,"depth":70,"color":"黒","features":"ヘッドレスト付き,肘掛け付き","kind":"座椅子"}`, i, 1000+i)
	}
	body = append(body, "]}"...)
	k := NewKnown()
	var l List
	if err := l.Split(body, "chairs", true); err != nil {
		b.Fatal(err)
	}
	for i, row := range l.Rows {
		k.Add(row, int32(i))
	}
	b.SetBytes(int64(len(body)))
	b.ReportAllocs()
	for b.Loop() {
		if err := l.Split(body, "chairs", true); err != nil {
			b.Fatal(err)
		}
		for _, row := range l.Rows {
			if _, ok := k.Find(row); !ok {
				b.Fatal("a row is not known")
			}
		}
	}
}
