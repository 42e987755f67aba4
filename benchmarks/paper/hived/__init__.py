"""HiveD's evaluation (OSDI 2020, Section 5) on a generated trace, published beside ours."""
