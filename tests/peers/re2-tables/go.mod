module usher.dev/tests/peers/re2-tables

go 1.26
