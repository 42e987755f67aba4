"""Public sets that users download are read by what the README names, and can be run."""

from benchmarks.__main__ import main
from benchmarks.rows import read_results
from benchmarks.synergy.mmkp import read_mmkp
from benchmarks.synergy.vector_packing import read_packing
from synergy_opt import import_openb, write_instance


def test_openb_is_imported_and_run(reference_data, tmp_path, task):
    """Tests a production pool from its CSV files to a certified row."""
    folder = reference_data / "openb"
    nodes, pods = folder / "openb_node_list_gpu_node.csv", folder / "openb_pod_list_default.csv"
    path, results = tmp_path / "t4.json", tmp_path / "results.jsonl"
    write_instance(import_openb(nodes, pods, model="V100M16"), path)
    assert main(["run", str(results), "--instance", str(path), "--method", "tune"]) == 0
    (row,) = read_results(results)
    assert (row["outcome"], row["certified"]) == ("done", True)
    assert int(row["jobs"]) > 0


def test_mmkp_files_are_read(reference_data):
    """Tests groups, capacities and values of a knapsack of Khan et al."""
    table = read_mmkp((reference_data / "mmkp" / "I01").read_text("utf-8"))
    assert (len(table.counts), len(table.capacity)) == (5, 5)
    assert table.value.min() > 0


def test_vector_packing_files_are_read(reference_data):
    """Tests dimensions and demands of every stored file."""
    files = sorted((reference_data / "vector-packing").glob("*/*.vbp"))
    assert len(files) == 33
    for path in files:
        packing = read_packing(path)
        assert len(packing.capacity) == 3
        assert min(packing.demand) >= 1
