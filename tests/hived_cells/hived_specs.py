"""Specifications as text for the tests of commands and replays."""

NODES = """
physicalCluster:
  cellTypes:
    NODE: {childCellType: GPU, childCellNumber: 2, isNodeLevel: true}
  physicalCells:
  - {cellType: NODE, cellAddress: n1}
  - {cellType: NODE, cellAddress: n2}
virtualClusters:
  A: {virtualCells: [{cellType: NODE.GPU, cellNumber: 2}]}
  B: {virtualCells: [{cellType: NODE, cellNumber: 1}]}
"""

SHORT = NODES.replace("cellType: NODE, cellNumber: 1", "cellType: NODE, cellNumber: 2")

EVENTS = """\
{"op": "low_priority", "id": "p1", "tenant": "C", "gpus": 3}
{"op": "allocate", "id": "c1", "tenant": "A", "level": 1}

{"op": "bad", "cell": "n1/1"}
{"op": "allocate", "id": "c2", "tenant": "A", "level": "GPU"}
{"op": "allocate", "id": "c3", "tenant": "A", "level": 1}
{"op": "release", "id": "c1"}
{"op": "heal", "cell": "n1"}
{"op": "low_priority", "id": "p2", "tenant": "C", "gpus": 4}
{"op": "low_priority", "id": "p3", "tenant": "C", "gpus": 2, "pool": "NODE"}
{"op": "stop", "id": "p3"}
{"op": "stop", "id": "p1"}
"""
