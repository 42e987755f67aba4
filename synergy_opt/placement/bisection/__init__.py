"""Recursive bisection: jobs divided among identical servers with few cuts, in exact arithmetic.

Takes whole-number demands and the room of one server and gives for each job its part on each
server; no linear programme has more than q rows (theory: stage 2, point 4). `recursion` halves
the servers, `whole` tries to cut nothing, `halve` divides jobs between two halves, by what
`guess` finds in doubles and confirms exactly, else by the moves of the elementary proof (`moves`).
"""

from synergy_opt.placement.bisection.recursion import bisect as bisect
