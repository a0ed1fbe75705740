"""Captions: similarities against slow code, consensus in one pass against the plain one, scores, ``nearline transfer``."""

import json

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import oracle_captions as oracle
from nearline import Bleu, Cider, Consensus, NeighborsTransfer, NgramF1, caption_test, load, save

WORDS = st.lists(st.sampled_from(["a", "dog", "Dog", "runs", "on", "grass"]), max_size=7).map(" ".join)
PAIRS = [(i, j) for i in range(4) for j in range(4)]


@given(st.lists(WORDS, min_size=4, max_size=4))
@settings(max_examples=60)
def test_similarities_are_those_of_the_definition(texts):
    """F7."""
    i, j = np.array(PAIRS).T
    items = [0, 0, 1, 2]
    slow = {
        NgramF1(): lambda a, b: oracle.f1(a, b),
        NgramF1(2): lambda a, b: oracle.f1(a, b, 2),
        Bleu(): lambda a, b: oracle.bleu(a, b),
        Cider(3): lambda a, b: oracle.cider(a, b, texts, items, 3),
    }
    for similarity, truth in slow.items():
        found = similarity.pairs(similarity.grams(texts, items), i, j)
        np.testing.assert_allclose(found, [truth(texts[a], texts[b]) for a, b in PAIRS], atol=1e-12)


def captions(rng, n):
    words = np.array(["a", "dog", "cat", "runs", "sits", "on", "grass", "red", "car"])
    return [
        [" ".join(rng.choice(words, rng.integers(2, 6))) for _ in range(rng.integers(1, 4))] for _ in range(n)
    ]


@pytest.mark.parametrize("subset", [None, 2])
@pytest.mark.parametrize("similarity", [NgramF1(), Bleu()])
def test_one_pass_gives_what_each_query_alone_gives(similarity, subset):
    rng = np.random.default_rng(0)
    X, Q, texts = rng.normal(size=(30, 3)), rng.normal(size=(12, 3)), captions(rng, 30)
    together = NeighborsTransfer(4, consensus=Consensus(similarity, subset)).fit(X, texts).predict(Q)
    lists = NeighborsTransfer(4).fit(X, texts).transfer(Q)
    for part, one in zip(lists, together, strict=True):
        pool = [text for several in part for text in several]
        S = np.array([[similarity(a, b) for b in pool] for a in pool])
        m = min(subset or len(pool) - 1, len(pool) - 1)
        values = [np.sort(np.delete(row, a))[::-1][:m].mean() for a, row in enumerate(S)]
        assert one == pool[int(np.argmax(np.round(values, 12)))]
        np.testing.assert_allclose(Consensus(similarity, subset).agreement(pool), values, atol=1e-12)


def test_ties_go_to_the_nearest():
    model = NeighborsTransfer(3, metric="l2", consensus=Consensus("f1")).fit(
        [[0.0], [1.0], [2.0]], ["b", "a", "c"]
    )
    assert model.predict([[0.9], [-1.0], [3.0]]) == ["a", "b", "c"]


def test_names_files_and_sentences(tmp_path):
    texts = [["a dog runs", "the dog runs"], ["a dog runs fast"], ["a red car"]]
    model = NeighborsTransfer(3, consensus=Consensus("cider")).fit([[0.0], [1.0], [2.0]], texts)
    save(model, tmp_path / "m.nearline")
    assert load(tmp_path / "m.nearline").predict([[0.2]]) == model.predict([[0.2]]) == ["a dog runs"]
    with pytest.raises(ValueError, match="Unknown similarity 'rouge': choose among 'f1', 'bleu', 'cider'"):
        Consensus("rouge")
    with pytest.raises(ValueError, match="longest must be a whole number"):
        NgramF1(0)
    with pytest.raises(ValueError, match="Captions are strings"):
        NeighborsTransfer(1, consensus=Consensus("f1")).fit([[0.0]], [[3]]).predict([[0.0]])
    with pytest.raises(ValueError, match="None of the 1 neighbors"):
        NeighborsTransfer(1, consensus=Consensus("f1")).fit([[0.0]], [[]]).predict([[0.0]])


def test_scores_are_those_of_the_definition():
    rng = np.random.default_rng(1)
    X, Q = rng.normal(size=(40, 3)), rng.normal(size=(15, 3))
    texts, references = captions(rng, 40), captions(rng, 15)
    found = caption_test(X, texts, Q, references, k=5, metric="l2", similarity="f1")
    chosen = NeighborsTransfer(5, consensus=Consensus("f1")).fit(X, texts).predict(Q)
    assert list(found.captions) == chosen
    values = [max(oracle.f1(one, r) for r in refs) for one, refs in zip(chosen, references, strict=True)]
    nearest = [part[0][0] for part in NeighborsTransfer(1).fit(X, texts).transfer(Q)]
    others = [max(oracle.f1(one, r) for r in refs) for one, refs in zip(nearest, references, strict=True)]
    random, near, agreed = found.scores
    assert agreed.mean == pytest.approx(np.mean(values))
    assert near.mean == pytest.approx(np.mean(others))
    assert agreed.lead == pytest.approx(np.mean(values) - np.mean(others))
    assert near.lead_interval is None
    assert random.mean in random.interval
    assert agreed.lead in agreed.lead_interval
    assert "consensus" in str(found)
    for wrong, said in (
        ({"similarity": "rouge"}, "Unknown similarity of captions"),
        ({"references": [["  "]] * 15}, "no caption with words"),
        ({"captions": texts[:3]}, "40 training rows and captions for 3"),
    ):
        options = {"captions": texts, "references": references} | wrong
        with pytest.raises(ValueError, match=said):
            caption_test(X, options.pop("captions"), Q, options.pop("references"), **options)


def lines(path, records):
    path.write_text("".join(json.dumps(record) + "\n" for record in records))
    return str(path)


@pytest.fixture
def news(tmp_path):
    known = [
        {"about": f"{w} {w} story", "titles": [f"the {w} {n}", f"a {w}"]}
        for w in ("dog", "cat", "car")
        for n in "xyz"
    ]
    train = lines(tmp_path / "train.jsonl", known)
    return train, lines(tmp_path / "new.jsonl", [{"about": "a dog story", "titles": ["the dog"]}] * 3)


def test_the_command_on_texts(news, tmp_path, capsys):
    pytest.importorskip("typer")
    from nearline.cli._run import run

    train, new = news
    out = tmp_path / "out.jsonl"
    asked = ["transfer", train, new, "--payload", "titles", "--by", "about", "--k", "3"]
    assert run([*asked, "--consensus", "f1", "--out", str(out)]) == 0
    assert [json.loads(line)["titles"] for line in out.read_text().splitlines()] == ["a dog"] * 3
    said = capsys.readouterr().err
    assert "consensus" in said
    assert "a random neighbor" in said
    assert run(asked) == 0
    assert '["the dog x", "a dog"]' in capsys.readouterr().out.replace('""', '"')


def test_the_command_on_numbers_arrays_and_images(tmp_path, capsys):
    pytest.importorskip("typer")
    Image = pytest.importorskip("PIL.Image")
    from nearline.cli._run import run

    records = []
    for i, color in enumerate(["red", "blue", "red", "blue"]):
        Image.new("RGB", (20, 20), color).save(tmp_path / f"{i}.png")
        records.append(
            {"image": f"{i}.png", "captions": [f"a {color} square"], "u": float(i % 2), "v": 2.0 - i % 2}
        )
    train, new = lines(tmp_path / "train.jsonl", records), lines(tmp_path / "new.jsonl", records[:2])
    np.save(tmp_path / "e.npy", np.eye(4)[[0, 1, 0, 1]])
    np.save(tmp_path / "q.npy", np.eye(4)[:2])
    arrays = ["--embeddings", str(tmp_path / "e.npy"), "--query-embeddings", str(tmp_path / "q.npy")]
    for way in (["--by", "image"], [], arrays):
        assert (
            run(["transfer", train, new, "--payload", "captions", "--k", "2", "--consensus", "bleu", *way])
            == 0
        )
        assert capsys.readouterr().out.splitlines()[1:] == ["a red square,1", "a blue square,2"]


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (["--payload", "title", "--by", "about"], "Did you mean 'titles'"),
        (["--payload", "titles"], "no columns of numbers"),
        (["--payload", "titles", "--by", "about", "--k", "99"], "--k is 99"),
        (["--payload", "titles", "--by", "about", "--consensus", "rouge"], "There is no --consensus 'rouge'"),
        (["--payload", "titles", "--embeddings", "x.npy"], "belong together"),
        (["--payload", "titles", "--by", "titles"], "without a text in 'titles'"),
    ],
)
def test_mistakes_get_a_sentence(news, capsys, options, said):
    pytest.importorskip("typer")
    from nearline.cli._run import run

    assert run(["transfer", *news, *options]) in (1, 2)
    assert said in capsys.readouterr().err


def test_empty_captions_are_refused(tmp_path, capsys):
    pytest.importorskip("typer")
    from nearline.cli._run import run

    train = lines(tmp_path / "t.jsonl", [{"u": 1.0, "c": ["x"]}, {"u": 2.0, "c": [" "]}])
    assert run(["transfer", train, train, "--payload", "c", "--k", "1", "--consensus", "f1"]) == 1
    assert "Row 2 of" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("X", "Q", "said"),
    [
        (np.eye(3)[:2], np.eye(3), "shape (2, 3)"),
        (np.eye(3), np.eye(4), "has 3 features and"),
        (np.full((3, 3), np.nan), np.eye(3), "Row 1 of"),
        (np.eye(3).astype(str), np.eye(3), "give numbers"),
        (np.zeros((3, 3)), np.eye(3), "3 rows of"),
    ],
)
def test_embeddings_that_do_not_fit_get_a_sentence(tmp_path, capsys, X, Q, said):
    pytest.importorskip("typer")
    from nearline.cli._run import run

    table = lines(tmp_path / "t.jsonl", [{"c": text} for text in "abc"])
    files = [str(tmp_path / name) for name in ("e.npy", "q.npy")]
    np.save(files[0], X)
    np.save(files[1], Q[:3])
    arrays = ["--embeddings", files[0], "--query-embeddings", files[1]]
    run(["transfer", table, table, "--payload", "c", "--k", "1", *arrays])
    assert said in capsys.readouterr().err
    for size in (0, 4, 100):
        (tmp_path / "q.npy").write_bytes((tmp_path / "e.npy").read_bytes()[:size])
        assert run(["transfer", table, table, "--payload", "c", "--k", "1", *arrays]) == 1
        error = capsys.readouterr().err
        assert "is not a NumPy file, or damaged" in error or said in error


@pytest.mark.parametrize(
    ("records", "options", "said"),
    [
        ([{"u": 1.0, "c": "x"}, {"u": None, "c": "y"}], [], "1 row of"),
        ([{"u": 1.0, "c": "x"}, {"u": 1e300, "c": "y"}], [], "beyond 1e+100 (the first is row 2)"),
        ([{"u": "?!", "c": "x"}, {"u": "!", "c": "y"}], ["--by", "u"], "no words to compare them by"),
        ([{"u": 1.0, "c": "x"}], ["--k", "0"], "--k must be a whole number"),
        ([], [], "has no rows"),
    ],
)
def test_rows_that_cannot_be_compared_get_a_sentence(tmp_path, capsys, records, options, said):
    pytest.importorskip("typer")
    from nearline.cli._run import run

    table = lines(tmp_path / "t.jsonl", records)
    assert run(["transfer", table, table, "--payload", "c", "--k", "1", *options]) in (1, 2)
    assert said in capsys.readouterr().err


def test_intervals_are_those_of_students_t_with_scores_of_every_item():
    """Leads by t itself: most are 0, and correcting the skewness of the few others misses more often."""
    from scipy import stats

    rng = np.random.default_rng(0)
    words = np.array(["a", "red", "blue", "green", "dog", "cat", "runs", "sits", "on", "the", "grass", "mat"])
    texts = [" ".join(rng.choice(words, 4)) for _ in range(60)]
    X = rng.normal(size=(60, 3))
    found = caption_test(X[:40], texts[:40], X[40:], texts[40:], k=5)
    nearest, last = found.by_item["the nearest"], found.scores[-1]
    leads = found.by_item[last.way] - nearest
    assert last.mean == pytest.approx(found.by_item[last.way].mean())
    half = stats.t.ppf(0.975, 19) * leads.std(ddof=1) / np.sqrt(20)
    ends = last.lead_interval
    np.testing.assert_allclose([ends.low, ends.high], [leads.mean() - half, leads.mean() + half], rtol=1e-6)
    assert ends.method == "Student"
