window.BENCHMARK_DATA = {
  "lastUpdate": 1706000000000,
  "repoUrl": "https://github.com/o/p",
  "entries": {
    "Rust": [
      {
        "commit": {
          "author": {
            "email": "ada@example.org",
            "name": "Ada",
            "username": "ada"
          },
          "committer": {
            "email": "ada@example.org",
            "name": "Ada",
            "username": "ada"
          },
          "distinct": true,
          "id": "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa",
          "message": "Sort faster\n\nCo-authored-by: Ben <ben@example.org>",
          "timestamp": "2024-01-02T10:00:00+01:00",
          "tree_id": "0000000000000000000000000000000000000000",
          "url": "https://github.com/o/p/commit/aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"
        },
        "date": 1704190000000,
        "tool": "cargo",
        "benches": [
          {
            "name": "sort",
            "value": 135,
            "range": "± 24",
            "unit": "ns/iter"
          },
          {
            "name": "parse",
            "value": 2500,
            "range": "± 24",
            "unit": "ns/iter"
          }
        ]
      },
      {
        "commit": {
          "author": {
            "email": "ada@example.org",
            "name": "Ada",
            "username": "ada"
          },
          "committer": {
            "email": "ada@example.org",
            "name": "Ada",
            "username": "ada"
          },
          "distinct": true,
          "id": "bbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb",
          "message": "Sort faster\n\nCo-authored-by: Ben <ben@example.org>",
          "timestamp": "2024-01-01T10:00:00+01:00",
          "tree_id": "0000000000000000000000000000000000000000",
          "url": "https://github.com/o/p/commit/bbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb"
        },
        "date": 1704290000000,
        "tool": "cargo",
        "benches": [
          {
            "name": "sort",
            "value": 140,
            "range": "± 24",
            "unit": "ns/iter"
          },
          {
            "name": "parse",
            "value": 2.5,
            "range": "± 24",
            "unit": "us/iter"
          }
        ]
      },
      {
        "commit": {
          "author": {
            "email": "ada@example.org",
            "name": "Ada",
            "username": "ada"
          },
          "committer": {
            "email": "ada@example.org",
            "name": "Ada",
            "username": "ada"
          },
          "distinct": true,
          "id": "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa",
          "message": "Sort faster\n\nCo-authored-by: Ben <ben@example.org>",
          "timestamp": "2024-01-02T10:00:00+01:00",
          "tree_id": "0000000000000000000000000000000000000000",
          "url": "https://github.com/o/p/commit/aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"
        },
        "date": 1704390000000,
        "tool": "cargo",
        "benches": [
          {
            "name": "sort",
            "value": 137,
            "range": "± 24",
            "unit": "ns/iter"
          },
          {
            "name": "parse",
            "value": null,
            "range": "± 24",
            "unit": "ns/iter"
          }
        ]
      }
    ]
  }
}