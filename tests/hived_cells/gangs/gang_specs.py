"""The clusters of the reference cases as specifications."""

DESIGN = """
physicalCluster:
  cellTypes:
    CT1-NODE: {childCellType: CT1, childCellNumber: 2, isNodeLevel: true}
    P100-SWITCH: {childCellType: DGX1-P100, childCellNumber: 2}
    P100-SOCKET: {childCellType: P100-SWITCH, childCellNumber: 2}
    DGX1-P100-NODE: {childCellType: P100-SOCKET, childCellNumber: 2, isNodeLevel: true}
    3-DGX1-P100-NODE: {childCellType: DGX1-P100-NODE, childCellNumber: 3}
    V100-2: {childCellType: DGX2-V100, childCellNumber: 2}
    V100-4: {childCellType: V100-2, childCellNumber: 2}
    V100-8: {childCellType: V100-4, childCellNumber: 2}
    DGX2-V100-NODE: {childCellType: V100-8, childCellNumber: 2, isNodeLevel: true}
    3-DGX2-V100-NODE: {childCellType: DGX2-V100-NODE, childCellNumber: 3}
    2-DGX2-V100-NODE: {childCellType: DGX2-V100-NODE, childCellNumber: 2}
    4-DGX2-V100-NODE: {childCellType: 2-DGX2-V100-NODE, childCellNumber: 2}
    IB-2: {childCellType: IB-DGX2-V100, childCellNumber: 2}
    IB-4: {childCellType: IB-2, childCellNumber: 2}
    IB-8: {childCellType: IB-4, childCellNumber: 2}
    IB-DGX2-V100-NODE: {childCellType: IB-8, childCellNumber: 2, isNodeLevel: true}
    2-IB-DGX2-V100-NODE: {childCellType: IB-DGX2-V100-NODE, childCellNumber: 2}
  physicalCells:
  - {cellType: CT1-NODE, cellAddress: 0.0.0.0}
  - {cellType: CT1-NODE, cellAddress: 0.0.0.1}
  - cellType: CT1-NODE
    cellAddress: 1.0.0.2
    cellChildren:
    - {cellAddress: 8, pinnedCellId: VC1-YQW-CT1}
    - {cellAddress: 9}
  - cellType: 3-DGX1-P100-NODE
    cellChildren:
    - {cellAddress: 1.0.0.2}
    - {cellAddress: 1.0.0.1}
    - cellAddress: 1.0.0.0
      cellChildren:
      - cellChildren:
        - {cellChildren: [{cellAddress: 1}, {cellAddress: 3}]}
        - {cellChildren: [{cellAddress: 4}, {cellAddress: 7}]}
      - cellChildren:
        - {cellChildren: [{cellAddress: 0}, {cellAddress: 2}]}
        - {cellChildren: [{cellAddress: 6}, {cellAddress: 5}]}
  - {cellType: DGX2-V100-NODE, cellAddress: 0.0.1.0}
  - {cellType: DGX2-V100-NODE, cellAddress: 0.0.5.0}
  - cellType: 3-DGX2-V100-NODE
    cellChildren: [{cellAddress: 0.0.2.0}, {cellAddress: 0.0.2.1}, {cellAddress: 0.0.2.2}]
  - cellType: 4-DGX2-V100-NODE
    cellChildren:
    - pinnedCellId: VC1-YQW-DGX2
      cellChildren: [{cellAddress: 0.0.3.0}, {cellAddress: 0.0.3.1}]
    - cellChildren: [{cellAddress: 0.0.3.2}, {cellAddress: 0.0.3.3}]
  - cellType: 4-DGX2-V100-NODE
    cellChildren:
    - cellChildren: [{cellAddress: 0.0.4.0}, {cellAddress: 0.0.4.1}]
    - cellChildren: [{cellAddress: 0.0.4.2}, {cellAddress: 0.0.4.3}]
  - cellType: 2-IB-DGX2-V100-NODE
    pinnedCellId: VC1-YQW-IB-DGX2
    cellChildren: [{cellAddress: 0.1.0.0}, {cellAddress: 0.1.0.1}]
virtualClusters:
  VC1:
    virtualCells:
    - {cellType: 4-DGX2-V100-NODE.2-DGX2-V100-NODE.DGX2-V100-NODE, cellNumber: 2}
    - {cellType: 3-DGX2-V100-NODE.DGX2-V100-NODE, cellNumber: 2}
    - {cellType: DGX2-V100-NODE, cellNumber: 2}
    - {cellType: 4-DGX2-V100-NODE.2-DGX2-V100-NODE, cellNumber: 1}
    pinnedCells:
    - {pinnedCellId: VC1-YQW-CT1}
    - {pinnedCellId: VC1-YQW-DGX2}
    - {pinnedCellId: VC1-YQW-IB-DGX2}
  VC2:
    virtualCells:
    - {cellType: 3-DGX1-P100-NODE.DGX1-P100-NODE, cellNumber: 2}
    - {cellType: 3-DGX1-P100-NODE.DGX1-P100-NODE.P100-SOCKET, cellNumber: 2}
    - {cellType: CT1-NODE, cellNumber: 1}
"""


def changed(*pairs: tuple[str, str]) -> str:
    """Return the design cluster's text with parts replaced, each of which must be there."""
    text = DESIGN
    for old, new in pairs:
        assert old in text, old
        text = text.replace(old, new)
    return text


FOUR = "{cellType: 4-DGX2-V100-NODE.2-DGX2-V100-NODE.DGX2-V100-NODE, cellNumber: 2}"
PAIR = "{cellType: 4-DGX2-V100-NODE.2-DGX2-V100-NODE, cellNumber: 1}"
THREE = "{cellType: 3-DGX2-V100-NODE.DGX2-V100-NODE, cellNumber: 2}"
CT1 = "    - {cellType: CT1-NODE, cellNumber: 1}"

PAIRS_ONLY = changed((f"    - {FOUR}\n", ""), (PAIR, PAIR.replace("1}", "3}")))
THREE_SHARED = changed((CT1, f"{CT1}\n    - {THREE.replace('2}', '1}')}"))
TOO_MUCH = changed(
    (
        f"    - {PAIR}\n",
        f"    - {PAIR}\n    - {{cellType: CT1-NODE, cellNumber: 2}}\n"
        "    - {cellType: CT1-NODE.CT1, cellNumber: 2}\n",
    )
)
P100 = "3-DGX1-P100-NODE.DGX1-P100-NODE"
SECOND = """  - cellType: 4-DGX2-V100-NODE
    cellChildren:
    - cellChildren: [{cellAddress: 0.0.4.0}, {cellAddress: 0.0.4.1}]
    - cellChildren: [{cellAddress: 0.0.4.2}, {cellAddress: 0.0.4.3}]
"""
RECONFIGURED = changed(
    (
        "{childCellType: V100-8, childCellNumber: 2, isNodeLevel: true}",
        "{childCellType: DGX2-V100, childCellNumber: 16, isNodeLevel: true}",
    ),
    ("0.0.3.0}", "0.0.3.100}"),
    (
        "DGX1-P100-NODE.DGX1-P100-NODE, cellNumber: 2",
        "DGX1-P100-NODE.DGX1-P100-NODE, cellNumber: 1",
    ),
    (
        SECOND,
        "".join(f"  - {{cellType: DGX2-V100-NODE, cellAddress: 0.0.4.{n}}}\n" for n in range(4))
        + SECOND.replace("0.0.4.", "0.0.4.10"),
    ),
)
DETOUR = changed(
    (FOUR, FOUR.replace("2}", "4}")), (f"    - {PAIR}\n", ""), (CT1, f"{CT1}\n    - {PAIR}")
)
