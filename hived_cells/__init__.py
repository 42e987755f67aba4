"""Buddy cell allocation: reserved groups of GPUs with a guarantee (HiveD, OSDI 2020)."""
