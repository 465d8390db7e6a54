"""The commands whose outputs are recorded, by what they show.

    case("name-of-what-it-shows", select("two.csv -k 1:3"), evaluate("two.csv"))

A case is one or more commands, run one after the other in a folder of its own that holds the input files they name
(inputs.py, inputs/) and those given with files=. `run` takes the words of a command as a shell would split them;
select, fit, evaluate, cluster and reproduce add --threads 2, because results tell the number of threads, which would
otherwise be the machine's. Whatever a command writes into its folder is recorded too; of the files in digests= only
length and checksum, to keep the record small where other cases show the same, and of those in unread= only that they
were written. After a new case:

    replay.py record --only '^name-of-what-it-shows$'

No case may depend on time (--time-limit, --progress) or on what the machine has (memory, terminal).
"""
import dataclasses
import shlex
import typing


@dataclasses.dataclass
class Run:
    words: typing.List[str]
    stdin: typing.Optional[str] = None
    stdout: str = ""  # a file, where standard output is not to be recorded


@dataclasses.dataclass
class Edit:
    """A JSON file that an earlier command wrote, changed: `change` takes the document."""
    source: str
    target: str
    says: str
    change: typing.Callable


@dataclasses.dataclass
class Case:
    name: str
    steps: list
    files: dict
    digests: tuple
    unread: tuple


ALL: typing.List[Case] = []


def case(name, *steps, files=None, digests=(), unread=()):
    if any(name == other.name for other in ALL):
        raise ValueError("two cases are called " + name)
    ALL.append(Case(name, list(steps), files or {}, digests, unread))


def run(line, stdin=None, stdout=""):
    return Run(shlex.split(line), stdin, stdout)


def threaded(command):
    return lambda line="", stdin=None, stdout="": run("%s %s --threads 2" % (command, line), stdin, stdout)


select, fit, evaluate, cluster, reproduce = map(threaded, ["select", "fit", "evaluate", "cluster", "reproduce"])


def predict(line, stdin=None):
    return run("predict " + line, stdin)


def verify(line):
    return run("verify " + line)


def merge(line):
    return run("merge %s --threads 2" % line)


def parts(command, line, count, name="p", order=None):
    """Every part of a run, written to p1.json, p2.json, ..."""
    return [command("%s --part %d/%d -o %s%d.json" % (line, i, count, name, i)) for i in order or range(1, count + 1)]


def synth(line):
    return run("synth " + line)


# --- the methods ---------------------------------------------------------------------------------------------------

SEARCHES = ["gslda", "forward-lda", "backward-lda", "gspca", "forward-pca", "backward-pca", "st", "eslda", "espca"]
SCORING = ["rvm-row", "rvm-entry", "gloss", "sda", "plda", "sulda", "sfd", "jeffreys-row", "jeffreys-entry"]
QALPHA = [
    "qalpha", "qalpha-basic", "qalpha-ritz", "qalpha-laplacian", "qalpha-gap", "qalpha-supervised", "qalpha-semi",
    "qalpha-kernel"]
FILTERS = ["pearson", "fisher", "ks", "snr", "max-surprise"]
MACHINES = ["gp-ard", "svm-rfe", "svm-rmb"]
COMPONENTS = ["all", "pca", "gene-shaving", "spca", "dspca"]
METHODS = SEARCHES + SCORING + QALPHA + FILTERS + MACHINES + COMPONENTS
WITH_LAMBDA = [name for name in SCORING if name != "sulda"] + ["spca"]
CLASSIFIERS = ["lda", "svm", "knn", "gp-laplace", "gp-ep"]


def short(method):
    """The lambdas of a path, and the objective of every iteration, are all in the result: few of them make it short."""
    words = " --lambdas 8" if method in WITH_LAMBDA else ""
    return words + (" --tolerance 1e-2" if method == "rvm-row" else "")


for name in METHODS:
    case("method-%s-two-and-three-classes" % name, select("two.csv --method %s -k 1:4" % name),
         select("two.csv --method %s -k 3" % name),
         select("three.csv --method %s -k 2:3 -o r.json%s" % (name, short(name))),
         select("three.csv --method %s -k 2" % name))
    case("method-%s-more-columns-than-rows" % name, select("wide.csv --method %s -k 1:4" % name),
         select("wide3.csv --method %s -k 3 --ridge 0.1" % name))
    case("method-%s-constant-and-copied-columns" % name, select("copies.csv --method %s -k 1:10" % name))
    case("method-%s-sonar-and-ionosphere" % name,
         select("sonar --method %s -k 3:5 -o r.json%s" % (name, short(name))),
         select("ionosphere --method %s -k 1:6 -o i.json%s" % (name, short(name))), digests=("r.json", "i.json"))

case("max-surprise-looks-for-the-classes",
     select("unlabelled.csv --target none --method max-surprise -k 1:3 -o r.json"),
     verify("r.json unlabelled.csv"),
     select("two.csv --target none --exclude class --method max-surprise -k 2 --restarts 3 --patience 10 "
            "--smallest-class 0.25 --seed 4 --json"),
     *(select("unlabelled.csv --target none --method max-surprise -k 1 " + option)
       for option in ["--restarts 0", "--patience 0", "--smallest-class 0.7", "--memory-limit 5K"]))

# --- auto, the rule that shrinks, ridges by cross-validation -----------------------------------------------------

case("auto-fit-says-what-it-took", fit("sonar -o m.json"), fit("three.csv -o n.json"), fit("wide3.csv -o w.json"),
     predict("n.json three.csv"), digests=("m.json", "w.json"))
case("auto-evaluate-nests-the-choice", evaluate("three.csv --method auto,forward-lda -k 1:4 -o r.json"),
     evaluate("two.csv --cv 3"))
case("auto-keeps-to-what-is-asked", fit("three.csv -k 2 -o m.json"), fit("three.csv -k 1,3 -o m.json"),
     fit("three.csv --ridge rel:0.5 -o m.json"), fit("two.csv --classifier svm --C 1 -o m.json"),
     fit("sonar --include V11 --exclude V12,V9 -o m.json"))
case("auto-is-refused-by-select", select("two.csv --method auto"), select("two.csv --ridge cv"),
     fit("two.csv --swaps 2 -o m.json"))
case("shrinkage-of-the-rule", *(fit("three.csv --method forward-lda -k 3 --shrinkage %s -o m.json" % share)
                                for share in ["auto", "0", "0.25", "1"]),
     *(fit("three.csv -k 3 --shrinkage %s -o m.json" % wrong) for wrong in ["-0.1", "2", "much", "''"]),
     fit("three.csv --classifier svm --shrinkage 0.1 -o m.json"))
case("ridge-by-cross-validation", fit("wide3.csv --method forward-lda -k 1:5 --ridge cv -o m.json"),
     evaluate("wide3.csv --method forward-lda,gloss -k 1:3 --ridge cv -o r.json"))

# --- lists and help ------------------------------------------------------------------------------------------------

case("help-program", run("--help"), run(""), run("-h"), run("help"), run("--help-all"))
case("help-on-methods", run("methods gslda"), run("methods gloss --json"), run("select --help-method svm-rfe"),
     run("--help-method=ks"), run("evaluate --help-method"), run("methods gsdla"))
case("usage-shells-and-manuals", run("--completion"), run("--completion tcsh"), run("--man nothing"))
for name in [
    "select", "fit", "predict", "evaluate", "verify", "cluster", "synth", "reproduce", "report", "merge", "methods", "datasets"]:
    case("help-" + name, run(name + " --help"))
    case("help-all-" + name, run(name + " --help-all"))
case("help-is-there-on-a-line-with-mistakes", run("methods --no-such-thing -h"), run("help datasets"))
case("list-methods", run("methods"), run("methods --json"))
case("list-datasets", run("datasets"), run("datasets --json"))
case("list-synthetic-problems", run("synth"), run("synth --json"))
case("list-experiments", run("reproduce --list"), run("reproduce"), run("reproduce --list --json"))

# --- select: options of all methods --------------------------------------------------------------------------------

case("select-default-sizes-and-method", select("tiny.csv"), select("unlabelled.csv --target none -k 1:4"),
     select("three.csv -k 1:7 --quiet"))
case("select-one-size-has-its-loadings", select("sonar -k 5"), select("three.csv -k 4"), select("three.csv -k 1"))
case("select-result-to-stdout-file-and-both", select("tiny.csv -k 2 -o -"), select("tiny.csv -k 1:2 -o r.json"),
     select("tiny.csv -k 1 --json -o s.json"))
for criterion in ["auto", "largest", "trace", "wilks"]:
    case("select-criterion-" + criterion, select("three.csv -k 1:7 --criterion %s --bounds" % criterion),
         select("three.csv -k 3 --criterion %s --bounds --json" % criterion),
         select("three.csv -k 1:4 --criterion %s --method eslda --json" % criterion),
         select("three.csv -k 1:4 --criterion %s --method fisher" % criterion),
         select("wide3.csv -k 1:5 --criterion %s --method forward-lda" % criterion))
case("select-ridge-by-value", select("two.csv -k 2 --ridge 0 --json"), select("two.csv -k 1:3 --ridge 0.5"),
     select("wide.csv -k 1:4 --ridge 1e-3"), select("wide.csv -k 2 --ridge auto --json"))
case("select-ridge-zero-on-dependent-columns", select("copies.csv -k 1:10 --ridge 0"),
     select("copies.csv -k 1:10 --ridge 0 --method forward-lda"),
     select("copies.csv -k 2 --ridge 0 --method backward-lda"), select("copies.csv -k 2 --ridge 0 --method eslda"),
     select("copies.csv -k 1:9 --ridge 0 --method fisher"), select("wide.csv -k 1:14 --ridge 0"))
case("select-patterns", select("two.csv -k 1:4 --include f[5] --exclude f[01]"),
     select("two.csv -k 2 --exclude g*"), select("two.csv -k 2 --include f?5"), select("ids.csv --exclude i* -k 1"))
case("results-as-csv", select("two.csv -k 1:3 --groups groups.csv -o r.csv"), select("two.csv -k 2 --method pca -o c.csv"),
     evaluate("two.csv --method gslda,fisher -k 1:2 --cv 3 -o e.csv"),
     select("two.csv -k 1:2 -o r.json"), verify("r.json two.csv -o v.csv"))
case("select-include-and-exclude", select("two.csv -k 1:4 --include f5 --exclude f0,f1"),
     select("two.csv -k 3 --include @names.txt --json"), select("two.csv -k 1:3 --method eslda --include f6,f7"),
     select("two.csv -k 1:4 --method fisher --include f5 --exclude f1"),
     select("two.csv -k 1:3 --method gspca --include f3"), select("two.csv -k 2 --method st --include f4"))
case("select-groups", select("two.csv -k 1:3 --groups groups.csv"),
     select("two.csv -k 2 --groups groups.csv --json"),
     select("two.csv -k 1:3 --groups groups.csv --method eslda --pool 2"),
     select("two.csv -k 1:3 --groups groups.csv --method gspca"),
     select("two.csv -k 1:3 --groups groups.csv --method espca"),
     select("two.csv -k 2 --groups groups.csv --include first --exclude f7"),
     select("two.csv -k 1:2 --groups groups.csv --method forward-lda --swaps 3"))
case("select-components", select("three.csv -k 3 --components 1"), select("three.csv -k 3 --components 1 --json"),
     select("three.csv -k 2:3 --components 5"), select("three.csv --method gspca -k 1:3 --components 3"),
     select("three.csv --method espca -k 2 --components 2 --json"),
     select("three.csv --method spca -k 2 --components 2 --lambdas 6 --json"),
     select("three.csv --method forward-pca -k 2 --components 9"))
case("select-every-bound", select("sonar -k 1:3 --bounds"), select("two.csv -k 4 --bounds --json"),
     select("two.csv -k 1:3 --bounds --method gspca"), select("two.csv -k 3 --bounds --method eslda --json"),
     select("two.csv -k 3 --bounds --method espca"), select("two.csv -k 3 --bounds --method dspca"),
     select("two.csv -k 3 --bounds --method backward-lda"), select("two.csv -k 2 --bounds --method ks"))
case("select-standardize", select("two.csv -k 1:3 --standardize"),
     select("two.csv -k 2 --method gspca --standardize --json"), select("copies.csv -k 2 --method pca --standardize"))
case("select-weights", select("weights.csv -k 1:4 --weights w"), select("weights.csv -k 2 --weights w --json"),
     select("weights.csv -k 1:3 --weights w --method eslda"),
     select("weights.csv -k 1:3 --weights w --method gspca"),
     select("weights.csv -k 2 --weights w --method gloss --lambdas 6"),
     select("weights.csv -k 2 --weights w --method pearson"), select("weights.csv -k 2 --weights w --method qalpha"),
     select("weights.csv -k 2 --weights w --method pca"))
case("select-methods-without-row-weights", select("weights.csv -k 2 --weights w --method gp-ard"),
     select("weights.csv -k 2 --weights w --method svm-rfe"), select("weights.csv -k 2 --weights w --method svm-rmb"))
case("select-seeds", select("two.csv --method qalpha --start random --seed 3 -k 1:3"),
     select("two.csv --method gene-shaving --seed 5 -k 2 --permutations 4"),
     select("two.csv --method svm-rfe --seed 9 -k 2 --json"))
case("select-missing-values", select("gaps.csv -k 1:2"), select("gaps.csv -k 1:2 --missing mean"),
     select("gaps.csv -k 2 --missing drop --json"),
     select("gaps.csv -k 2 --missing mean --exclude f0 --method gspca"))
case("select-verbose", select("two.csv -k 1 --verbose"), select("gaps.csv -k 1 --missing mean --verbose"),
     select("ids.csv --exclude id -k 1 --verbose"),
     select("semi.csv --target class --method qalpha-semi -k 1 --verbose"))
case("select-quiet", select("copies.csv -k 1:2 --quiet"), select("gaps.csv -k 1 --missing drop --quiet"))
case("select-target", select("patients.csv --target patient --exclude class -k 1"),
     select("headless.csv --target x4 -k 1:2"), select("two.csv --target f3 --exclude class -k 1"),
     select("ids.csv -k 1 --target class --exclude id"), select("two.csv --target none --exclude class -k 2 --json"))
case("select-class-of-one", select("lonely.csv -k 1:3"), select("lonely.csv -k 2 --method fisher --json"),
     select("lonely.csv -k 2 --method gloss --lambda cv"), select("lonely.csv -k 2 --method svm-rfe"),
     select("lonely.csv -k 2 --method qalpha-supervised"))
case("select-continuous-target-is-refused", select("tiny.csv --target f3 --exclude class -k 1"))
case("select-classes-that-no-feature-knows", *(select("factorial.csv --method %s" % name) for name in SCORING),
     select("factorial.csv --method gloss --lambda cv"), select("factorial.csv -k 1:3"),
     select("factorial.csv --method eslda -k 2 --json"))
case("select-swaps", select("sonar -k 1:6 --swaps 5"), select("sonar --method forward-lda -k 8 --swaps 20 --json"),
     select("sonar --method backward-lda -k 4 --swaps 2"), select("wide3.csv --method forward-lda -k 3 --swaps 4"))
case("select-thresholding", select("two.csv --method st -k 1:3 --threshold y"),
     select("two.csv --method st -k 1:3 --no-renormalize"),
     select("two.csv --method st -k 2 --threshold y --no-renormalize --json"),
     select("unlabelled.csv --method st --target none -k 1:3"))
case("select-refit", select("two.csv --method st --no-renormalize -k 2:3 -o st.json --quiet"),
     select("two.csv --refit st.json"), select("two.csv --refit refit.txt --json"),
     select("two.csv --refit refit-names.txt --criterion trace --ridge 0.1"),
     select("--covariance covariance.csv --refit refit-names.txt"),
     select("unlabelled.csv --refit refit.txt --target none"),
     select("--between between.csv --within within.csv --refit refit-names.txt"))

# --- select: matrices ----------------------------------------------------------------------------------------------

PAIR = "--between between.csv --within within.csv"
case("matrices-pair", select(PAIR), select(PAIR + " -k 2 --json"), select(PAIR + " -k 1:5 --method eslda"),
     select(PAIR + " -k 3 --method backward-lda --bounds"), select(PAIR + " -k 2 --method st --ridge 0.5"),
     select(PAIR + " -k 1:3 --criterion trace"), select(PAIR + " -k 2 --method gspca"),
     select(PAIR + " -k 2 --method espca"))
case("matrices-covariance", select("--covariance covariance.csv"), select("--covariance covariance.csv -k 3 --json"),
     *(select("--covariance covariance.csv -k 1:3 --method " + name)
         for name in ["forward-pca", "backward-pca", "st", "espca", "spca", "dspca"]),
     select("--covariance covariance.csv -k 2 --components 2"))
case("matrices-formats", select("--covariance covariance.npy -k 2"), select("--covariance covariance.tsv.gz -k 2"),
     select("--covariance nameless.csv -k 2"), select("--covariance covariance.csv -k 2 --include f4 --exclude f0"))
case("matrices-methods-that-need-a-table", select("--covariance covariance.csv --method fisher"),
     select(PAIR + " --method gloss"), select("--covariance covariance.csv --method gslda"),
     select(PAIR + " --method spca"))

# --- exact search --------------------------------------------------------------------------------------------------

case("exact-proves-sonar", select("sonar --method eslda -k 5 --require-optimal"),
     select("sonar --method eslda -k 3:4 --json"))
case("exact-proves-ionosphere", select("ionosphere --method eslda -k 5:8"))
case("exact-pca-sonar", select("sonar --method espca -k 1:6"),
     select("sonar --method espca -k 4 --standardize --json"))
case("exact-pool", select("sonar --method eslda -k 3 --pool 3"),
     select("tiny.csv --method eslda -k 2 --pool 20 --json"), select("two.csv --method espca -k 2:3 --pool 2"))
case("exact-node-limit", select("sonar --method eslda -k 9 --node-limit 200"),
     select("sonar --method eslda -k 9:10 --node-limit 100 --json"),
     select("sonar --method espca -k 9 --node-limit 50"))
case("exact-gap", select("sonar --method eslda -k 6 --gap 0.3"), select("sonar --method eslda -k 6 --gap 0.2 --json"))
case("exact-require", select("sonar --method eslda -k 9 --node-limit 100 --require-optimal"),
     select("sonar --method eslda -k 9 --node-limit 100 --require-gap 0.001 -o r.json"),
     select("sonar --method eslda -k 9 --node-limit 100 --require-gap 2"), select("sonar -k 5 --require-optimal"),
     select("two.csv --method fisher -k 2 --require-optimal"), select("sonar -k 1 --require-gap 0"),
     select("two.csv --method eslda -k 1:4 --include f1,f2 --require-optimal"),
     select("copies.csv --method forward-lda -k 1:10 --ridge 0 --require-gap 100"))
# The bounds in a state differ in their last digits between CPUs with AVX-512 and without (target_clones in src/search):
# of a search with many nodes only the answer is compared.
case("exact-checkpoint-and-resume", select("sonar --method eslda -k 6 --node-limit 300 --checkpoint state.json"),
     select("sonar --method eslda -k 6 --resume state.json --checkpoint state.json --json"),
     select("sonar --method eslda -k 6 --resume state.json"), unread=("state.json",))
case("exact-checkpoint-file", select("two.csv --method eslda -k 3:5 --node-limit 2 --checkpoint state.json"),
     select("two.csv --method eslda -k 3:5 --resume state.json --checkpoint state.json"),
     select("three.csv --method eslda -k 3:4 --node-limit 2 --criterion trace --pool 2 --checkpoint three.json"),
     select("two.csv --method espca -k 3 --node-limit 1 --checkpoint pca.json"))
case("exact-events-and-log", select("two.csv --method eslda -k 3:4 --events e.jsonl --verbose"),
     select("two.csv --method espca -k 2 --events e.jsonl"))
case("exact-checkpoints-that-are-none", select("sonar --method eslda -k 6 --node-limit 100 --checkpoint state.json"),
     Edit("state.json", "edited.json", "one node more", lambda state: state.update(nodes=state["nodes"] + 1)),
     select("sonar --method eslda -k 6 --resume edited.json"),
     select("sonar --method eslda -k 7 --resume state.json"),
     select("sonar --method eslda -k 6 --pool 2 --resume state.json"),
     select("ionosphere --method eslda -k 6 --resume state.json"),
     *(select("sonar --method eslda -k 6 --resume " + name)
         for name in ["torn.json", "empty.json", "other.json", "none.json", "."]),
     unread=("state.json",),
     files={
         "torn.json": '{"schema": "subspectra.check', "empty.json": "",
         "other.json": '{"schema": "subspectra.selection/1"}'})
case("exact-device", select("sonar --method eslda -k 5 --device cpu"),
     select("sonar --method eslda -k 3 --device tpu"), select("sonar --method gslda -k 3 --device cuda:x"))
case("exact-gap-was-wider-before", select("sonar --method eslda -k 6 --gap 0.5 --checkpoint state.json"),
     select("sonar --method eslda -k 6 --resume state.json"), unread=("state.json",))

# --- options of single methods -------------------------------------------------------------------------------------

for name in WITH_LAMBDA:
    case("lambda-forms-" + name,
         *(select("two.csv --method %s --lambda %s" % (name, form))
             for form in ["auto", "auto:0.3", "0.01", "1000", "cv", "cv-min"]),
         select("two.csv --method %s --lambda path --lambdas 5 --lambda-ratio 0.05 -k 1:8" % name),
         select("two.csv --method %s --lambda auto --json%s" % (name, short(name))),
         select("two.csv --method %s --lambda auto -k 2" % name))
case("select-options-that-do-nothing", select("two.csv --method gspca --criterion trace -k 2"),
     select("two.csv --method pca --bounds --ridge 1 -k 2"),
     select("two.csv --method qalpha --criterion wilks --components 3 -k 2"),
     select("two.csv --method gloss --bounds -k 2"),
     select("clusters.csv --method spca --ridge 0.1 --criterion trace -k 2"))
case("select-numbers-at-their-limits", select("wide.csv --method rvm-row --lambda 1e-25"),
     select("wide.csv --method rvm-entry --lambda 1e-25"), select("two.csv --method svm-rfe --C 1e300 -k 2"),
     select("two.csv --method svm-rmb --C 1e300 -k 2"),
     select("two.csv --method gp-ard --hyperparameters fixed --signal 1e150 -k 2"),
     select("two.csv --method qalpha-kernel --kernel rbf:1e-3 -k 2"),
     select("two.csv --method qalpha-kernel --kernel block2:100 -k 2"),
     select("huge.csv --method qalpha --no-normalize -k 2"),
     select("opposite.csv --method qalpha --no-normalize --start ones -k 1"), select("broad.csv --method dspca -k 2"))
case("options-rvm", select("two.csv --method rvm-row --alpha 0.1 -k 1:4"),
     select("two.csv --method rvm-row --rvm-update em -k 1:4 --lambdas 5"),
     select("two.csv --method rvm-row --prune 0 --lambda auto --max-iterations 5 --json"),
     select("two.csv --method rvm-row --max-iterations 1 -k 3"),
     select("two.csv --method rvm-entry --alpha 0.01 -k 1:4"),
     select("three.csv --method rvm-entry --tolerance 1e-2 --lambda auto"))
case("options-jeffreys", select("two.csv --method jeffreys-row --epsilon 1e-4 -k 1:4"),
     select("two.csv --method jeffreys-entry --epsilon 1e-4 --prune 1e-3 --lambda auto"))
case("options-sda-plda-sulda", select("three.csv --method sda --l2 0.1 -k 1:5"),
     select("three.csv --method sda --tolerance 0 --max-iterations 3 -k 3"),
     select("three.csv --method plda --max-iterations 4 -k 3"),
     select("three.csv --method plda --tolerance 0 --max-iterations 20 --lambda auto"),
     select("three.csv --method sulda --tolerance 1e-3"), select("three.csv --method sulda --max-iterations 2"))
case("options-gloss-sfd", select("three.csv --method gloss --tolerance 1e-3 -k 1:5"),
     select("three.csv --method gloss --max-iterations 1 -k 3"), select("two.csv --method sfd --C 10"),
     select("two.csv --method sfd --C 1 --json"))
for name in QALPHA:
    supervised = name in ["qalpha-supervised", "qalpha-semi"]
    case("options-" + name, select("two.csv --method %s --restarts 3 --seed 2 -k 1:3" % name),
         select("two.csv --method %s --start random -k 1:3" % name),
         select("two.csv --method %s --max-iterations 1 -k 2" % name),
         select("two.csv --method %s --tolerance 0 --max-iterations 6 -k 2" % name),
         select("counts.csv --method %s --no-normalize -k 1:4" % name),
         *[
             select("two.csv --method %s --gamma 0.2 --within-vectors 1 --between-vectors 0 -k 1:3" % name),
             select("three.csv --method %s --gamma 2 --within-vectors 99 -k 2" % name)]
             if supervised
             else [
                 select("clusters.csv --method %s --clusters 3 -k 1:9" % name),
                 select("tiny.csv --method %s --clusters 99 -k 2" % name)],
         *[]
             if name == "qalpha-kernel"
             else [select("counts.csv --method %s --start ones --no-normalize -k 2" % name)])
case("options-start-at-a-matrix",
     select("tiny.csv --method qalpha --start @q0.csv -k 2 --json"),
     select("tiny.csv --method qalpha-gap --start @oblique.csv -k 2"),
     select("tiny.csv --method qalpha --start @theta.csv -k 2"),
     select("tiny.csv --method qalpha-supervised --start @q0.csv -k 2"),
     select("tiny.csv --method qalpha-kernel --start @q0.csv -k 2"),
     select("tiny.csv --method qalpha --start @none.csv -k 2"), select("tiny.csv --method qalpha --start @ -k 2"),
     select("three.csv --method sda --start @theta.csv --lambda auto"),
     select("three.csv --method rvm-entry --start @theta.csv --lambda auto"),
     select("three.csv --method sulda --start @theta.csv"), select("three.csv --method sda --start @q0.csv"),
     select("three.csv --method gloss --start random"), select("three.csv --method plda --start @theta.csv"),
     files={
         "q0.csv": "a,b\n" + "".join("%d,%d\n" % (i == 3, i == 5) for i in range(12)),
         "oblique.csv": "".join("%d,%d\n" % (i, i * i) for i in range(12)),
         "theta.csv": "1,0\n0,1\n-1,-1\n"})
case("options-qalpha-laplacian-shift",
     select("counts.csv --method qalpha-laplacian --laplacian-shift diagonal --no-normalize -k 1:3"),
     select("counts.csv --method qalpha-laplacian --laplacian-shift diagonal -k 2"))
case("options-qalpha-semi-supervision",
     *(select("semi.csv --target class --method qalpha-semi --supervision %s -k 1:3" % w) for w in [0, 0.5, 1]),
     select("semi.csv --target class --method qalpha -k 1"),
     select("semi.csv --target class --method qalpha-supervised -k 1"),
     select("semi.csv --target class --missing drop -k 1:2"))
case("options-qalpha-kernels",
     *(select("two.csv --method qalpha-kernel --kernel %s -k 1:3" % kernel)
         for kernel in ["linear", "poly:2:0", "poly:3:1", "rbf:0.5", "rbf:2", "block2:10"]),
     select("two.csv --method qalpha-kernel --kernel rbf:1 --kernel-tolerance 0.01 -k 2 --json"))
case("options-gp-ard", select("two.csv --method gp-ard --approximation ep -k 1:3"),
     select("two.csv --method gp-ard --hyperparameters fixed --lengthscale 2 --signal 1.5 -k 2 --json"),
     select("two.csv --method gp-ard --lengthscale 1,2,3,4,5,6,7,8 --max-iterations 3 -k 2"),
     select("two.csv --method gp-ard --restarts 2 --seed 4 --tolerance 1e-3 -k 2"),
     select("three.csv --method gp-ard --approximation ep -k 2"))
case("options-svm", select("two.csv --method svm-rfe --C 0.1 --rfe-step 1 -k 1:8"),
     select("two.csv --method svm-rfe --C 1 --rfe-step 0.25 --rfe-single 0 -k 1:8"),
     select("wide.csv --method svm-rfe --C 10 --rfe-step 0.5 --rfe-single 4 -k 1:5 --json"),
     select("two.csv --method svm-rfe --rfe-step 3 -k 2"), select("two.csv --method svm-rmb --C 0.1 -k 1:3"),
     select("two.csv --method svm-rmb --C 100 --max-iterations 3 -k 2 --json"),
     select("three.csv --method svm-rmb --C 1000 --tolerance 0 --max-iterations 5 -k 2"))
case("options-gene-shaving", select("clusters.csv --method gene-shaving --shave 0.3 --permutations 5 -k 2"),
     select("clusters.csv --method gene-shaving --permutations 3 -k 1 --json"))
case("options-sparse-pca", select("three.csv --method spca --l2 inf -k 1:4"),
     select("three.csv --method spca --l2 0 -k 1:4"), select("three.csv --method spca --l2 0.5 --lambda 0.2 --json"),
     select("three.csv --method spca --max-iterations 1 -k 2"), select("three.csv --method dspca --rho 0.3"),
     select("three.csv --method dspca --rho 0 --json"), select("three.csv --method dspca --max-iterations 2 -k 2"),
     select("three.csv --method dspca --tolerance 0.1 -k 1:3"))

# --- evaluate ------------------------------------------------------------------------------------------------------

case("evaluate-table", evaluate("two.csv"), evaluate("sonar --method gslda,fisher --cv 3 -k 1:25"))
case("evaluate-json", evaluate("two.csv -k 1:3 --json"),
     evaluate("two.csv --method fisher,ks -k 2 --repeats 2 --null 2 -o e.json"))
case("evaluate-repeats-and-seed", evaluate("two.csv -k 1:2 --cv 4 --repeats 3 --seed 5"),
     evaluate("three.csv -k 1:2 --repeats 2 --json"))
case("evaluate-leave-one-out", evaluate("tiny.csv --cv loo -k 1:2"),
     evaluate("tiny.csv --cv loo --repeats 3 -k 1 --json"))
case("evaluate-test-fraction", evaluate("two.csv --test-fraction 0.25 --repeats 4 -k 1:2"),
     evaluate("two.csv --test-fraction 0.5 -k 1 --json"))
case("evaluate-select-on-all", evaluate("two.csv --select-on all -k 1:3"),
     evaluate("two.csv --select-on all -k 2 --json"))
case("evaluate-null", evaluate("two.csv --null 3 -k 1:2"))
case("evaluate-details", evaluate("two.csv --method fisher,ks -k 1:3 --cv 3 --details d.csv"),
     evaluate("three.csv -k 1:2 --repeats 2 --cv 3 --details d.json --quiet"),
     evaluate("patients.csv --cv-groups patient --cv 3 -k 1:2 --null 4"))
PARTS = ("p1.json", "p2.json", "p3.json", "q2.json", "bad.json")
case("parts-of-an-evaluation", *parts(evaluate, "two.csv --method fisher,gslda -k 1:2 --cv 3 --null 2", 3, order=[2, 3, 1]),
     merge("p3.json p1.json p2.json -o r.json"), evaluate("two.csv --method fisher,gslda -k 1:2 --cv 3 --null 2 -o whole.json"),
     merge("p1.json p2.json p3.json --json --details d.csv"), unread=PARTS)
case("parts-of-a-filter", *parts(select, "two.csv --method fisher -k 1:3", 2), merge("p1.json p2.json -o r.json"),
     *parts(select, "two.csv --method ks -k 2", 2), merge("p2.json p1.json -o s.json --quiet"), unread=PARTS)
case("parts-of-an-exact-search", *parts(select, "two.csv --method eslda -k 2:3", 2), merge("p1.json p2.json --json"),
     *parts(select, "two.csv --target none --exclude class --method espca -k 3", 1), merge("p1.json -o r.json"), unread=PARTS)
case("parts-from-standard-input", evaluate("- -k 1 --cv 2 --part 1/1 -o p1.json", stdin="class,a\n" + "x,1\ny,2\nx,1.5\ny,3\n"),
     merge("p1.json -o r.json"), run("merge p1.json --data - --json --threads 2", stdin="class,a\n" + "x,1\ny,2\nx,1.5\ny,3\n"),
     run("merge p1.json --data - --json --threads 2", stdin="class,a\n" + "x,1\ny,2\nx,1.5\ny,4\n"), unread=PARTS)
case("parts-that-do-not-fit-together", *parts(evaluate, "two.csv --method fisher -k 1 --cv 3", 3),
     evaluate("two.csv --method fisher -k 1 --cv 3 --part 2/2 -o q2.json"), merge("p1.json q2.json -o r.json"),
     merge("p1.json p3.json -o r.json"), merge("p1.json -o r.json"), merge("p1.json p2.json p2.json p3.json -o r.json"),
     evaluate("two.csv --method fisher -k 1 --cv 3 --seed 1 --part 2/3 -o q2.json"), merge("p1.json q2.json p3.json -o r.json"),
     evaluate("two.csv --method fisher -k 1 --cv 3 --standardize --part 2/3 -o q2.json"), merge("p1.json q2.json p3.json -o r.json"),
     evaluate("tiny.csv --method fisher -k 1 --cv 3 --part 2/3 -o q2.json"), merge("p1.json q2.json p3.json -o r.json"),
     select("two.csv --method fisher -k 1 --part 2/3 -o q2.json"), merge("p1.json q2.json p3.json -o r.json"),
     merge("p1.json p2.json p3.json --data tiny.csv -o r.json"),
     Edit("p2.json", "bad.json", "one number changed", lambda part: part.update(part=3)), merge("p1.json bad.json p3.json -o r.json"),
     merge("p1.json two.csv p3.json -o r.json"), merge("p1.json nothing.json -o r.json"),
     select("two.csv -k 1 -o whole.json"), merge("whole.json -o r.json"), unread=PARTS + ("whole.json",))
case("parts-usage", merge(""), evaluate("two.csv -k 1 --cv 2 --method fisher --part 1/1 -o p1.json"), merge("p1.json"), merge("p1.json -o p1.json"),
     *(evaluate("two.csv -k 1 --part %s -o p.json" % wrong) for wrong in ["0/2", "3/2", "2", "1/", "1/2000000", "''"]),
     evaluate("two.csv -k 1 --part 1/2"), evaluate("two.csv -k 1 --part 1/2 -o p.csv"),
     evaluate("two.csv -k 1 --part 1/2 -o p.json --details d.csv"), evaluate("two.csv -k 1 --part 1/2 -o p.json --json"),
     evaluate("two.csv -k 1 --part 1/2 -o p.json --time-limit 5"), select("two.csv -k 1 --method gslda --part 1/2 -o p.json"),
     select("two.csv -k 2 --method eslda --part 1/2 -o p.json --checkpoint c.json"),
     select("two.csv -k 2 --method eslda --part 1/2 -o p.json --gap 0.1"),
     select("two.csv -k 2 --method espca --components 2 --part 1/2 -o p.json"),
     select("--covariance covariance.csv --method espca -k 1 --part 1/2 -o p.json"), fit("two.csv -k 1 --part 1/2 -o m.json"), unread=PARTS)
case("evaluate-details-refused", evaluate("two.csv --details d.txt"), evaluate("two.csv --details two.csv"),
     evaluate("two.csv --details d.csv -o d.csv"))
case("evaluate-cut-short", evaluate("two.csv -k 1:2 --time-limit 1e-9"),
     evaluate("two.csv -k 1:2 --time-limit 1e-9 --json"))
case("select-written-columns", select("two.csv --method fisher -k 2 --write-table t.csv --write-names n.txt"),
     select("gaps.csv --missing mean -k 1:2 --write-table t.tsv"), select("two.csv --method pca -k 1 --write-names n.txt"),
     select("two.csv --method gloss --lambda auto --write-names n.txt --quiet"),
     select("two.csv --write-table t.json"), select("two.csv --write-table two.csv"),
     select("two.csv -k 1 --write-table t.csv --write-names t.csv"),
     select("--covariance covariance.csv -k 1 --write-table t.csv"))
case("evaluate-groups-of-rows", evaluate("patients.csv --cv-groups patient --cv 4 -k 1:2"),
     evaluate("patients.csv --cv-groups patient --cv 4 -k 1 --json"),
     evaluate("patients.csv --cv-groups patient --cv loo -k 1"),
     evaluate("patients.csv --cv-groups patient --test-fraction 0.3 --repeats 2 -k 1"))
case("evaluate-groups-of-features", evaluate("two.csv --groups groups.csv -k 1:3 --cv 4"))
case("evaluate-data-options", evaluate("gaps.csv --missing mean -k 1:2"), evaluate("gaps.csv --missing drop -k 1"),
     evaluate("two.csv --standardize -k 1:2 --include f2 --exclude f3"), evaluate("weights.csv --weights w -k 1:2"))
case("evaluate-priors-ridge-components", evaluate("three.csv --prior uniform -k 1:2"),
     evaluate("three.csv --components 1 -k 2 --ridge 0.3"), evaluate("three.csv --criterion trace -k 1:2"),
     evaluate("two.csv --method gspca --components 2 -k 1"))
case("evaluate-class-of-one", evaluate("lonely.csv -k 1:2 --cv loo"), evaluate("lonely.csv -k 1"),
     evaluate("lonely.csv -k 1 --test-fraction 0.3"))
case("evaluate-sizes-that-are-not-reached", evaluate("wide.csv -k 1:14 --ridge 0 --method forward-lda --cv 3"),
     evaluate("copies.csv -k 8:10 --ridge 0 --method forward-lda --cv 3"),
     fit("copies.csv -k 9:10 --ridge 0 --method forward-lda -o m.json"))
for name in METHODS:
    case("evaluate-method-" + name, evaluate("two.csv --method %s -k 1:3 --cv 3" % name))
case("evaluate-more-columns-than-rows",
     evaluate("wide.csv --method gslda,fisher,gloss,svm-rfe,pca,qalpha -k 1:3 --cv 3"),
     evaluate("wide3.csv --method forward-lda,sda,plda -k 1:3 --cv 3 --json"))
case("evaluate-lambda",
     *(evaluate("two.csv --method gloss,rvm-row --lambda %s --cv 3" % form)
         for form in ["auto", "cv", "cv-min", "0.01"]),
     evaluate("two.csv --method sda --lambda auto --cv 3 --json"))
case("evaluate-exact", evaluate("two.csv --method gslda,eslda -k 2:3 --cv 3 --gap 0"),
     evaluate("sonar --method eslda -k 9 --node-limit 50 --cv 2"))
for name in CLASSIFIERS:
    case("evaluate-classifier-" + name, evaluate("two.csv --classifier %s -k 1:2 --cv 3" % name),
         evaluate("three.csv --classifier %s -k 2 --cv 3 --json" % name),
         evaluate("three.csv --method pca --classifier %s -k 1:2 --cv 3 --prior uniform" % name))
case("evaluate-classifier-options", evaluate("two.csv --classifier svm --C 0.5 -k 2 --cv 3"),
     evaluate("two.csv --classifier svm --svm-kernel rbf --svm-gamma 0.1 --C 2 -k 2 --cv 3"),
     evaluate("two.csv --classifier svm --svm-kernel poly --svm-degree 3 --C 1 -k 2 --cv 3"),
     evaluate("two.csv --classifier knn --neighbors 3 -k 2 --cv 3"),
     evaluate("tiny.csv --classifier knn --neighbors 50 -k 2 --cv 3"),
     evaluate("two.csv --classifier gp-laplace --hyperparameters fixed --lengthscale 2 --signal 1 -k 2 --cv 3"),
     evaluate("two.csv --classifier gp-ep --ard --restarts 1 -k 2 --cv 3"))
case("evaluate-warnings", evaluate("two.csv --method fisher -k 2 --bounds"),
     evaluate("two.csv --method fisher -k 2 --components 2"), evaluate("two.csv --method sulda -k 2 --cv 3"),
     evaluate("two.csv --method all -k 2 --cv 3"), evaluate("copies.csv -k 1 --cv 3 --quiet"))

# --- fit and predict -----------------------------------------------------------------------------------------------

for name in CLASSIFIERS:
    case("fit-and-predict-" + name, fit("two.csv --classifier %s -k 2 -o m.json" % name), predict("m.json two.csv"),
         fit("three.csv --classifier %s -k 2 --prior uniform -o t.json" % name), predict("t.json three.csv -o p.csv"))
    case("fit-components-" + name, fit("tiny.csv --method pca --classifier %s -k 2 -o m.json" % name),
         predict("m.json tiny.csv"))
for name in METHODS:
    size = "" if name == "sulda" else " --lambda auto" if name in WITH_LAMBDA and name != "spca" else " -k 2"
    case("fit-and-predict-method-" + name, fit("tiny.csv --method %s%s -o m.json" % (name, size)),
         predict("m.json tiny.csv --quiet"), digests=("m.json",))
case("fit-chooses-the-size", fit("two.csv -k 1:5 -o m.json"), fit("two.csv --method gloss -k 1:5 -o g.json"),
     fit("tiny.csv -o d.json --json"))
case("fit-svm-kernels", fit("tiny.csv --classifier svm --svm-kernel rbf --svm-gamma 0.05 -k 2 -o m.json"),
     predict("m.json tiny.csv"),
     fit("tiny.csv --classifier svm --svm-kernel poly --svm-degree 3 --C 2 -k 2 -o p.json"),
     predict("p.json tiny.csv"), fit("tiny.csv --classifier svm --C 0.25 -k 2 -o l.json"),
     digests=("p.json", "l.json"))
case("fit-gp-options", fit("tiny.csv --classifier gp-laplace --ard -k 2 -o m.json"), predict("m.json tiny.csv"),
     fit("tiny.csv --classifier gp-ep --hyperparameters fixed --lengthscale 1,3 --signal 2 --ard -k 2 -o e.json"),
     predict("e.json tiny.csv"),
     fit("tiny.csv --method gp-ard --hyperparameters fixed --lengthscale 2 -k 2 -o a.json"))
case("fit-knn-options", fit("tiny.csv --classifier knn --neighbors 3 -k 2 -o m.json"),
     fit("tiny.csv --classifier knn --neighbors 1000 -k 2 -o n.json"))
case("fit-data-options", fit("gaps.csv --missing mean -k 2 --standardize -o m.json"), predict("m.json gaps.csv"),
     fit("weights.csv --weights w -k 2 -o w.json"), predict("w.json three.csv"),
     fit("two.csv --groups groups.csv -k 1 -o g.json"),
     fit("two.csv --include f5 --exclude f1 -k 2 --ridge 0.2 -o i.json"), digests=("w.json", "g.json", "i.json"))
case("fit-warnings", fit("two.csv --method gspca -k 3 --components 2 -o m.json"),
     fit("two.csv --method ks -k 3 --bounds -o m.json"), fit("copies.csv -k 2 -o m.json"),
     fit("copies.csv -k 2 -o m.json --quiet"), fit("two.csv -k 2 -o - --quiet"), digests=("m.json",))
case("fit-exact", fit("two.csv --method eslda -k 3 -o m.json"),
     fit("sonar --method eslda -k 9 --node-limit 50 -o s.json --quiet"), digests=("s.json",))
case("fit-what-cannot-be-fitted", fit("factorial.csv --method gloss -o m.json"),
     fit("two.csv --method gloss --lambda 1000 -o m.json"), fit("two.csv --method gloss --lambdas 2 -k 1 -o m.json"),
     fit("two.csv --target none --exclude class -o m.json"), fit("unlabelled.csv -o m.json"),
     fit("one.csv --method gslda -k 1 -o m.json"), fit("one.csv --method pca -k 1 -o m.json"),
     fit("lonely.csv -o m.json"), fit("copies.csv --method all --ridge 0 -o m.json"),
     fit("semi.csv --target class -k 1:2 -o m.json"),
     fit("semi.csv --target class --method qalpha-semi -k 2 -o m.json"),
     fit("nolabels.csv --target class --method pca -k 1 -o m.json"),
     files={
         "one.csv": "a,b,class\n1,2,x\n2,1,x\n4,4,x\n3,9,x\n", "nolabels.csv": "a,b,class\n1,2,\n2,1,\n4,4,\n3,9,\n"})

SMALL = {
    "train.csv": 'a,b,c,kind\n1,5,0,x\n2,3,1,x\n1.5,4,1,x\n4,4,0,"y, ""z"""\n5,6,1,"y, ""z"""\n4.2,5,0,"y, ""z"""\n'}
TRAINED = fit("train.csv --method fisher -k 2 -o m.json")
case("predict-columns-by-name", TRAINED,
     *(predict("m.json -", text)
         for text in ["a,b,c\n1,5,0\n5,5,1\n", "more,c,b,a\n9,0,5,1\n9,1,5,5\n", "kind,c,b,a\nx,0,5,1\nx,1,5,5\n"]),
     predict("m.json - --exclude id", "id,c,b,a\nq1,0,5,1\nq2,1,5,5\n"),
     predict("m.json - --verbose", "id,c,b,a,note\nq1,low,5,1,7\nq2,high,5,5,late\n"), files=SMALL)
case("predict-what-does-not-fit-the-model", TRAINED,
     *(predict("m.json -", text)
         for text in [
             "id,a,b\nq1,1,5\nq2,oops,5\n", "a,b,kind\n1,5,x\n5,5,new\n4,5,new\n", "c,a,b\ninf,1,5\n0,1e999,5\n",
             "c,zz\n1,5\n5,5\n", "A,b\n1,5\n5,5\n", "a,b,a\n1,5,2\n5,5,2\n", "a,b,c\n1,5,0\n,5,1\n5,5,1\n",
             "1,2\n3,4\n", ""]),
     predict("m.json - --missing drop", "a,b,c\n1,5,0\n,5,1\n5,5,1\n"),
     predict("m.json - --missing drop", "a,b,c\n,5,1\n"), predict("m.json - --target kind", "a,b\n1,2\n"),
     predict("m.json none.csv"), predict("m.json train.csv -o none/p.csv"), predict("none.json train.csv"),
     predict("m.json"), predict(""), predict("m.json train.csv more"), predict("m.json train.csv --missing mean"),
     predict("m.json train.csv -o m.json"), predict("m.json train.csv --threads 2"),
     predict("m.json train.csv --memory-limit 1k"), predict("m.json train.csv --memory-limit many"), files=SMALL)
case("predict-without-names", fit("plain.csv --target x0 --method fisher -k 2 -o m.json --quiet"),
     predict("m.json plain.csv"), predict("m.json two.npy"), fit("two.npy --target x0 --method fisher -k 2 -o refused.json"), fit("packed.npz -k 2 -o n.json"), predict("n.json packed.npz --quiet"),
     predict("n.json oblong.npy"), predict("n.json tiny.csv"), digests=("m.json", "n.json"),
     files={"plain.csv": "".join("%d,%d,%d\n" % (i % 2, (3 * i + 4 * (i % 2)) % 11, i * i % 7) for i in range(24))})
case("predict-far-away",
     *(step
         for name in CLASSIFIERS
         for step in [
             fit("tiny.csv --method all --classifier %s -o m.json --quiet" % name), predict("m.json new.csv")]),
     digests=("m.json",), files={"new.csv": "f0,f1,f2,f3\n1,2,3,4\n1e300,2,-1e300,4\n"})
case("predict-overflow",
     *(step
         for name in ["gp-laplace", "lda", "knn", "svm"]
         for step in [
             fit("train.csv --method all --standardize --classifier %s -o m.json --quiet" % name),
             predict("m.json new.csv")]),
     digests=("m.json",),
     files={
         "train.csv": "a,b,class\n1e-9,2,p\n3e-9,1,q\n2e-9,5,p\n5e-9,4,q\n2e-9,2,p\n6e-9,2,q\n",
         "new.csv": "a,b\n1e-9,2\n1e300,2\n"})


def broken(member, value):
    """The document with a member (path with dots) replaced; value None takes it out."""
    def change(document):
        *path, last = member.split(".")
        for key in path:
            document = document[int(key)] if isinstance(document, list) else document[key]
        if value is None:
            del document[last]
        else:
            document[int(last) if isinstance(document, list) else last] = value
    return change


def refused(source, command, changes):
    """A step that changes the file, and the command on it, for every change."""
    for member, value in changes:
        says = "without " + member if value is None else "%s = %r" % (member, value)
        yield Edit(source, "bad.json", says, broken(member, value))
        yield command


MODEL = fit("tiny.csv -k 2 -o m.json --quiet")
ON_TINY = predict("bad.json tiny.csv --quiet")
case("models-that-are-none",
     *(predict(name + " tiny.csv")
         for name in [
             "empty.json", "object.json", "list.json", "cut.json", "foreign.json", "deep.json", "torn.json"]),
     files={
         "empty.json": "", "object.json": "{}", "list.json": "[1, 2",
         "cut.json": '{"schema": "subspectra.model/1", "classes": [',
         "foreign.json": '{"schema": "subspectra.selection/1"}', "deep.json": "[" * 3000 + "]" * 3000,
         "torn.json": '{"schema": "subspectra.model/1", oops}'})
case("models-with-a-wrong-member", MODEL,
     *refused("m.json", ON_TINY,
              [
                  ("schema", "subspectra.model/2"), ("classes", None), ("classes", ["u"]), ("classes", ["u", "u"]),
                  ("classes", 3), ("names", []), ("names", [1, 2]), ("features", [0]), ("features", [3, 1]),
                  ("features", [0, 99]), ("classifier", "tree"), ("classifier", 1), ("preprocessing.scale", [0, 1]),
                  ("priors", [0.9, 0.9]), ("priors", ["half", 0.5]), ("centroids", [[1.0]]),
                  ("discriminants", [[1.0, 2.0, 3.0], [1.0, 2.0, 3.0]]), ("discriminants", None), ("training", None),
                  ("training.features", -1), ("ridge", "much"), ("method", 3), ("preprocessing.centre", [0.0])]),
     digests=("m.json",))
case("models-of-svm-with-a-wrong-member", fit("tiny.csv -k 2 --classifier svm --C 1 -o m.json --quiet"),
     *refused("m.json", ON_TINY, [("C", 0), ("C", None), ("slope", 0), ("weights", [[1.0]])]),
     fit("tiny.csv -k 2 --classifier svm --svm-kernel rbf --C 1 -o m.json --quiet"),
     *refused("m.json", ON_TINY,
              [("kernel", "cubic"), ("degree", 99), ("gamma", 0), ("vectors", [[1.0]]), ("scale", [-1.0, 1.0])]),
     digests=("m.json",))
case("models-of-knn-with-a-wrong-member", fit("tiny.csv -k 2 --classifier knn -o m.json --quiet"),
     *refused("m.json", ON_TINY, [("neighbors", 0), ("codes", [0]), ("codes", [9] * 12), ("rows", [[1.0]])]),
     digests=("m.json",))
case("models-of-gp-with-a-wrong-member", fit("tiny.csv -k 2 --classifier gp-ep -o m.json --quiet"),
     *refused("m.json", ON_TINY,
              [
                  ("log_marginal_likelihood", 3.0), ("machines", []), ("codes", [9] * 12), ("shares", [0.0, 1.0]),
                  ("inputs", [[1.0]])]),
     digests=("m.json",))

# --- cluster -------------------------------------------------------------------------------------------------------

case("cluster-table", cluster("clusters.csv --clusters 3"), cluster("two.csv"),
     cluster("ionosphere --target none --exclude class -k 5"))
case("cluster-json", cluster("clusters.csv --clusters 3 -k 8 --json"), cluster("two.csv --json --quiet"))
case("cluster-labels-to-a-file", cluster("clusters.csv --clusters 3 -k 8 -o c.csv"),
     cluster("gaps.csv --missing drop -k 2 -o c.csv"), cluster("tiny.csv -o r.json"))
for name in ["qalpha", "qalpha-basic", "qalpha-ritz", "qalpha-laplacian", "qalpha-gap", "qalpha-kernel"]:
    case("cluster-method-" + name, cluster("clusters.csv --clusters 3 --method %s" % name),
         cluster("counts.csv --method %s --no-normalize --restarts 2 -k 3" % name))
case("cluster-options", cluster("clusters.csv --clusters 3 --eigenvectors 4 --row-scaling none"),
     cluster("clusters.csv --clusters 3 --row-scaling eigenvalues --kmeans-restarts 2 --kmeans-iterations 3"),
     cluster("clusters.csv --clusters 3 --no-comparison --seed 7"),
     cluster("clusters.csv --clusters 2 --start random --seed 3"), cluster("two.csv --include f7 -k 2 --exclude f0"),
     cluster("weights.csv --weights w --clusters 3 --standardize"),
     cluster("clusters.csv --clusters 3 --method qalpha-kernel --kernel rbf:1"),
     cluster("clusters.csv --eigenvectors 99 --clusters 3"), cluster("clusters.csv --clusters 1"),
     cluster("square.csv --clusters 2 --target none"),
     cluster("negative.csv --clusters 2 --no-normalize -k 1 --include b"), cluster("semi.csv --target class"),
     files={
         "square.csv": "a,b\n1,1\n1,-1\n-1,1\n-1,-1\n",
         "negative.csv": "a,b\n" + "10,-1\n11,1\n12,-1\n10,1\n11,-1\n12,1\n" * 2})
case("cluster-few-places", cluster("places.csv --clusters 4 --target none"), cluster("copies.csv -k 11"),
     files={"places.csv": "a,b\n" + "0,0\n1,1\n0,1\n" * 4})
case("cluster-refuses",
     *(cluster(line)
         for line in [
             "two.csv --clusters 0", "two.csv --clusters 41", "two.csv -k 1:5", "two.csv -k 9",
             "two.csv --method gslda", "two.csv --method qalpha-semi", "two.csv --laplacian-shift degree",
             "two.csv --kmeans-restarts 0", "two.csv --kmeans-iterations 0", "two.csv --eigenvectors -1",
             "two.csv --ridge 1", "none.csv", "two.csv -k 1 --include f0,f1", "", "two.csv --row-scaling much",
             "two.csv --start ones", "two.csv --start sideways", "two.csv --method qalpha-kernel --start ones",
             "two.csv --tolerance -1", "two.csv --max-iterations 0", "two.csv --restarts 0",
             "two.csv --method nothing", "two.csv --gamma 1", "two.csv -o none/c.csv",
             "two.csv --include f0 --exclude f0", "two.csv --include nothing"]))

# --- synth ---------------------------------------------------------------------------------------------------------

SYNTH = {
    "brownian": "--rows 8 --features 4",
    "gaussian-classes": "--rows 9 --features 4 --classes 3 --informative 2 --separation 2",
    "weston-linear": "--rows 5 --features 8", "weston-nonlinear": "--rows 5 --features 8",
    "clusters": "--rows 9 --features 6 --classes 3 --relevant 2",
    "sessions": "--rows 12 --features 5 --classes 3 --relevant 2 --session 4 --spread 0.1",
    "bendor": "--features 6 -a 3 -b 4 -e 0.5 -d 3 -s 1"}
for name, options in SYNTH.items():
    case("synth-" + name, synth("%s %s -o t.csv" % (name, options)),
         synth("%s %s --seed 7 -o t.npz --json" % (name, options)), synth("%s %s -o -" % (name, options)))
case("synth-brownian-pair",
     *(synth("brownian-pair --features 4 --kind %s -o pair.csv" % kind) for kind in ["fbm", "gg"]),
     synth("brownian-pair --features 3 --seed 2 --json -o pair"), synth("brownian-pair --features 3 -o pair.tsv.gz"))
case("synth-formats",
     *(synth("brownian --rows 4 --features 3 -o t" + ending)
         for ending in [".csv", ".tsv", ".csv.gz", ".tsv.gz", ".npz"]))
case("synth-variants", synth("sessions --rows 8 --features 4 --normalize -o t.csv"),
     synth("bendor --features 4 -a 2 -b 2 --spread-as deviation -o t.csv"),
     synth("clusters --rows 6 --features 3 --relevant 99 -o t.csv"))
case("synth-refuses",
     *(synth(line)
         for line in [
             "brownian", "brownian-pair", "brownian-pair -o -", "brownian --kind gg -o t.csv", "brownian -o t.txt",
             "brownian-pair -o pair.mat", "brownian --rows 1 -o t.csv", "brownian --features 0 -o t.csv",
             "brownian-pair --features 0 -o p", "--seed 3", "brownian -o none/t.csv",
             "brownian-pair --kind levy -o p", "browniann -o t.csv", "everything -o t.csv", "brownian more -o t.csv",
             "brownian --seed -1 -o t.csv", "brownian --rows many -o t.csv", "bendor --features 0 -o t.csv",
             "bendor -a 0 -o t.csv", "bendor -e 2 -o t.csv", "bendor -d -1 -o t.csv", "bendor -s -1 -o t.csv",
             "clusters --features 0 -o t.csv", "clusters --classes 0 -o t.csv", "clusters --rows 2 -o t.csv",
             "clusters --relevant -1 -o t.csv", "sessions --session 0 -o t.csv", "sessions --spread -1 -o t.csv",
             "gaussian-classes --features 0 -o t.csv", "gaussian-classes --classes 1 -o t.csv",
             "gaussian-classes --rows 2 -o t.csv", "gaussian-classes --informative -1 -o t.csv",
             "gaussian-classes --separation -1 -o t.csv", "weston-linear --rows 0 -o t.csv",
             "weston-linear --features 3 -o t.csv", "weston-nonlinear --features 1 -o t.csv",
             "brownian --threads 2 -o t.csv"]))

# --- reproduce -----------------------------------------------------------------------------------------------------

case("reproduce-icml06-fig1", reproduce("icml06-fig1 --runs 4"),
     reproduce("icml06-fig1 --quick --runs 2 --seed 3 -o r.json"), digests=("r.json",))
case("reproduce-icml06-fig2", reproduce("icml06-fig2 --quick --runs 1 -k 1:4"))
case("reproduce-icml06-fig4", reproduce("icml06-fig4 --quick --data two.csv -k 1:3 --json"))
case("reproduce-iccv07-bounds", reproduce("iccv07-bounds --quick"))
case("reproduce-iccv07-pixels", reproduce("iccv07-gender --quick --data images.csv --shape 4x4 -k 1:6 --json"),
     reproduce("iccv07-faces --quick --data images.csv --shape 4x4"))
case("reproduce-iccv07-faces-pictures",
     reproduce("iccv07-faces --data images.csv --shape 4x4 -k 5 --components 1 --images pictures"),
     reproduce("iccv07-faces --data faces --images more/pictures -k 2"),
     reproduce("iccv07-faces --data images.csv --shape 4x4 --images images.csv"),
     reproduce("iccv07-faces --data two.csv --images pictures"),
     unread=tuple("%spictures/iccv07-faces-%s.png" % (folder, name) for folder in ["", "more/"] for name in [
         "mean", "mean-chosen", "eigenface-1-full", "eigenface-1-sparse", "eigenface-2-full", "eigenface-2-sparse",
         "eigenface-3-full", "eigenface-4-full", "eigenface-5-full", "eigenface-6-full"]))
case("reproduce-iccv07-verification", reproduce("iccv07-verification --quick --images faces --shape 3x3"))
case("reproduce-aistats15-theorem3", reproduce("aistats15-theorem3 --quick --runs 2"))
case("reproduce-jmlr05-fig2a", reproduce("jmlr05-fig2a --quick --runs 2"))
case("reproduce-refuses",
     *(run("reproduce " + line)
         for line in [
             "icml06-fig4", "icml06-fig0", "everything", "iccv07-bounds --runs 3",
             "iccv07-faces --data x.csv --shape 4", "--quick", "iccv07-bounds --list", "icml06-fig1 --runs -1",
             "icml06-fig1 --threads -1", "icml06-exact --sizes 0", "icml06-exact --sizes 1",
             "icml06-exact --sizes two", "iccv07-speed --sizes 5",
             "iccv07-verification --images faces --components -1", "icml06-fig4 --data none.csv", "jmlr05-images",
             "icml06-fig1 -o none/r.json", "icml06-fig1 more", "iccv07-verification --data images.csv --images faces",
             "iccv07-faces --data images.csv --shape 3x3", "iccv07-faces --images no-images",
             "iccv07-faces --images bad-images", "iccv07-faces --images odd-images",
             "iccv07-faces --images two-sizes", "iccv07-faces --images nowhere",
             "iccv07-faces --images faces --shape 9x9", "iccv07-gender --data three.csv",
             "iccv07-gender --data unlabelled.csv", "iccv07-verification --data unlabelled.csv --shape 2x4",
             "iccv07-shape --data two.csv", "iccv07-usps --data three.csv", "aistats15-table1 --data tiny.csv",
             "jmlr05-table1 --data three.csv", "jmlr05-table1 --data unlabelled.csv",
             "jmlr05-images --data faces --images faces", "jmlr05-images --data faces/cat",
             "jmlr05-images --data faces", "all --data nowhere", "all --runs 3", "icml06-fig4 --data unlabelled.csv",
             "icml06-fig1 --time-limit 0", "icml06-fig1 --classes 3", "iccv07-gender --quick --data few.csv",
             "iccv07-faces --quick --data flat.csv --shape 1x2", "iccv07-shape --quick --data vertices.csv",
             "iccv07-verification --quick --data people.csv --shape 1x2", "jmlr05-table1 --quick --data few.csv",
             "iccv07-faces --images dark", "iccv07-faces --images cut", "iccv07-faces --images empty"]),
     files={
         "few.csv": "a,b,class\n1,2,u\n2,1,v\n3,2,v\n", "flat.csv": "a,b,class\n1,2,u\n1,1,v\n1,2,v\n",
         "vertices.csv": "a_x,a_y,b_x,b_y,b_z\n1,2,3,4,5\n2,1,4,3,5\n",
         "people.csv": "a,b,class\n1,2,u\n2,1,v\n3,2,w\n"})

# --- verify --------------------------------------------------------------------------------------------------------

VERIFIED = {
    "gslda": "two.csv -k 1:8 --bounds", "three-classes-wilks": "three.csv -k 1:7 --criterion wilks --standardize",
    "weights-trace": "weights.csv -k 1:4 --weights w --criterion trace",
    "groups": "two.csv -k 1:3 --groups groups.csv", "pool": "two.csv -k 1:4 --method eslda --pool 3",
    "gspca-components": "two.csv --method gspca -k 1:3 --components 2",
    "thresholding": "two.csv --method st -k 1:4 --no-renormalize", "copies": "copies.csv -k 1:6",
    "missing": "gaps.csv -k 1:3 --missing mean", "filter": "three.csv --method pearson -k 2:4 --ridge 0.5",
    "unlabelled": "two.csv --target none --exclude class -k 1:4", "more-columns-than-rows": "wide.csv -k 1:4",
    "sonar": "sonar -k 1:5 --include V1 --exclude V11"}
for name, line in VERIFIED.items():
    case("verify-" + name, select(line + " -o r.json --quiet"), verify("r.json " + line.split()[0]),
         verify("r.json %s --no-enumerate" % line.split()[0]), digests=("r.json",))
case("verify-json", select("three.csv -k 2:3 --method eslda --pool 2 -o r.json"), verify("r.json three.csv --json"),
     select("three.csv -k 1 --method gspca --components 2 -o c.json"),
     verify("c.json three.csv -o v.json --no-enumerate"))
case("verify-matrices", select(PAIR + " -o pair.json"), verify("pair.json " + PAIR),
     select("--covariance covariance.csv -o pca.json"), verify("pca.json --covariance covariance.csv"),
     verify("pca.json --covariance within.csv"), verify("pca.json two.csv"),
     verify("pca.json two.csv --covariance covariance.csv"), verify("pair.json --between between.csv"),
     verify("pca.json --covariance covariance.csv " + PAIR), digests=("pair.json", "pca.json"))
RESULT = select("three.csv -k 1:3 -o r.json --quiet")
case("verify-finds-what-was-changed", RESULT,
     *refused("r.json", verify("bad.json three.csv --quiet"),
              [
                  ("path.1.objective", 0.5), ("path.1.features", [0, 1]), ("path.1.names", ["f0", "f6"]),
                  ("path.1.upper_bound", 0.01), ("path.1.certified", True), ("path.1.gap", 0.001), ("path.0.k", 2),
                  ("path.0.loadings", [[2.0, 0.0]]), ("status", "optimal"), ("status", "splendid"),
                  ("options.criterion", "trace"), ("options.exclude", ["f1"]), ("options.include", ["f6"]),
                  ("options.ridge", 0.7)]),
     Edit("r.json", "bad.json", "without its second set", lambda result: result["path"].pop(1)),
     verify("bad.json three.csv -o v.json"), digests=("r.json",))
case("verify-finds-what-an-optimal-path-lacks", select("two.csv --method eslda -k 2:4 -o r.json"),
     Edit("r.json", "bad.json", "without its second set", lambda result: result["path"].pop(1)),
     verify("bad.json two.csv"), digests=("r.json",))
case("verify-finds-what-was-taken-out", select("two.csv --method gspca -k 1:3 --components 2 -o r.json --quiet"),
     *[step for name, change in [
         ("an empty path", lambda result: result.update(path=[])),
         ("without the first set", lambda result: result["path"].pop(0)),
         ("without the last set", lambda result: result["path"].pop()),
         ("without the second component", lambda result: result.pop("components")),
         ("stopped, without the last set", lambda result: [result["path"].pop(), result.update(status="time_limit")])]
       for step in (Edit("r.json", "bad.json", name, change), verify("bad.json two.csv"))], digests=("r.json",))
case("verify-more-than-24-candidates", select("sonar -k 1:20 -o r.json --quiet"), verify("r.json sonar"),
     verify("r.json sonar --node-limit 1"), select("ionosphere --method eslda -k 16:17 -o r.json --quiet"),
     verify("r.json ionosphere"), verify("r.json ionosphere --node-limit 2"),
     verify("r.json ionosphere --node-limit 2 --json"), digests=("r.json",))
case("verify-methods-without-sets", select("two.csv --method pca -k 2 -o r.json --quiet"), verify("r.json two.csv"),
     select("three.csv --method sulda -k 2:3 -o r.json --quiet"), verify("r.json three.csv"))
case("verify-a-fraction-of-the-variances", select("wide.csv -k 1:3 -o r.json --quiet"),
     Edit("r.json", "bad.json", "another variance", broken("ridge.variances.2", 0.5)), verify("bad.json wide.csv"),
     Edit("r.json", "bad.json", "another fraction", broken("ridge.fraction", 0.5)), verify("bad.json wide.csv"),
     Edit("r.json", "bad.json", "no fraction", broken("options.ridge", "rel:nan")), verify("bad.json wide.csv"),
     digests=("r.json",))
case("verify-results-with-a-wrong-member", RESULT,
     *refused("r.json", verify("bad.json three.csv"),
              [
                  ("schema", "subspectra.model/1"), ("path", None), ("path", 3), ("path.0.features", ["a"]),
                  ("path.0.features", -1), ("path.0.objective", "much"), ("path.0.k", -1), ("path.0.names", [1]),
                  ("path.0.loadings", [[1.0], [2.0, 3.0]]), ("path.0.loadings", [["a"]]), ("path.0.loadings", 1),
                  ("path.0.certified", "yes"), ("options", None), ("options", 3), ("options.index_base", 7),
                  ("options.ridge", -1.0), ("options.k", [1]), ("options.target", 3), ("options.criterion", "best"),
                  ("options.missing", "guess"), ("data.names", ["a"]), ("data.class_counts", [1]),
                  ("data.rows", "many"), ("data", None), ("status", 3), ("method", None)]),
     digests=("r.json",))
case("verify-other-data-and-foreign-files", RESULT, verify("r.json two.csv"), verify("r.json sonar"),
     verify("r.json names.csv"), verify("r.json classes.csv"), verify("r.json - "), verify("cut.json three.csv"),
     verify("empty.json three.csv"), verify("none.json three.csv"), verify("three.csv three.csv"),
     verify("model.json three.csv"), verify("r.json none.csv"), verify("r.json three.csv --groups groups.csv"),
     verify("r.json three.csv -o r.json"), verify("r.json"), verify(""), verify("r.json three.csv more"),
     verify("r.json three.csv --threads 2"), verify("r.json three.csv --time-limit 0"),
     verify("r.json three.csv --memory-limit much"), select("two.csv -k 1:2 --groups groups.csv -o g.json"),
     Edit("g.json", "moved.json", "groups elsewhere", broken("options.groups", "gone.csv")),
     verify("moved.json two.csv"), verify("moved.json two.csv --groups groups.csv"),
     Edit("g.json", "device.json", "groups = a device", broken("options.groups", "/dev/zero")),
     verify("device.json two.csv"), select("two.csv --target none --exclude class -k 1 --method gspca -o u.json"),
     Edit("r.json", "fewer.json", "no classes",
             lambda r: [r["data"].pop("classes"), r["data"].pop("class_counts")]),
     verify("fewer.json three.csv"), verify("r.json unlabelled3.csv"), verify("r.json some.csv"),
     select("five.csv -k 1:2 -o five.json --ridge 0.1"), verify("five.json --covariance covariance.csv"),
     verify("five.json " + PAIR), digests=("r.json", "g.json", "u.json", "five.json"),
     files={
         "unlabelled3.csv": "f0,f1,f2,f3,f4,f5,f6\n" + "1,2,3,4,5,6,7\n2,1,3,4,5,6,8\n0,1,3,4,5,7,8\n" * 15,
         "five.csv": "f0,f1,f2,f3,f4,class\n1,2,3,4,5,u\n2,1,3,4,4,u\n0,1,3,4,5,v\n3,3,2,1,5,v\n",
         "some.csv": "f0,f1,f2,f3,f4,f5,f6,class\n"
             + "1,2,3,4,5,6,7,red\n2,1,3,4,5,6,8,green\n0,1,3,4,5,7,8,blue\n" * 14
             + "1,2,3,4,5,6,7,red\n2,1,3,4,5,6,8,green\n0,1,3,4,5,7,8,\n",
         "cut.json": '{"schema": "subspectra.sel', "empty.json": "",
         "model.json": '{"schema": "subspectra.model/1"}',
         "names.csv": "z,f1,f2,f3,f4,f5,f6,class\n"
             + "1,2,3,4,5,6,7,red\n2,1,3,4,5,6,8,green\n0,1,3,4,5,7,8,blue\n" * 15,
         "classes.csv": "f0,f1,f2,f3,f4,f5,f6,class\n"
             + "1,2,3,4,5,6,7,red\n2,1,3,4,5,6,8,green\n0,1,3,4,5,7,8,green\n" * 15})

# --- formats -------------------------------------------------------------------------------------------------------

FORMATS = {
    "csv": "two.csv", "tsv": "two.tsv", "csv-gz": "two.csv.gz", "tsv-gz": "two.tsv.gz", "npz": "two.npz",
    "npz-deflated": "packed.npz", "mat5": "two.mat", "mat5-compressed": "packed.mat", "mat73": "two73.mat",
    "arff": "two.arff", "h5ad-dense": "dense.h5ad", "npy-unlabelled": "two.npy --target none",
    "npy-float32-target": "float32.npy --target x7 --method gspca", "npz-csr": "csr.npz --target x0",
    "npz-csc": "csc.npz --target none", "npz-csc-labels": "csc-labels.npz", "mat5-sparse": "sparse.mat",
    "mat73-sparse": "sparse73.mat", "libsvm": "sparse.svm", "libsvm-gz": "sparse.svm.gz",
    "libsvm-from-0": "sparse0.libsvm --index-base 0", "libsvm-width": "sparse.svm --features 9",
    "arff-sparse": "sparse.arff", "h5ad-csr": "csr.h5ad", "h5ad-csc": "csc.h5ad",
    "h5ad-other-target": "dense.h5ad --target donor", "csv-of-windows": "windows.csv", "csv-latin1": "latin1.csv",
    "csv-without-header": "headless.csv --target x4"}
for name, line in FORMATS.items():
    case("format-" + name, select(line + " -k 1:2 --verbose"), select(line + " -k 2 --json --quiet"))
case("format-stdin", select("- -k 1:2", "a,b,class\n1,5,u\n2,3,u\n4,4,v\n5,6,v\n"),
     select("- -k 1 --json --verbose", "a,b,class\n1,5,u\n2,3,u\n4,4,v\n5,6,v\n"),
     evaluate("- -k 1 --cv 2", "a,b,class\n1,5,u\n2,3,u\n4,4,v\n5,6,v\n"), select("-", ""), select("-", "a,b\n"))
case("format-sparse-tables-through-the-methods",
     *(select("sparse.svm --method %s -k 2" % name)
         for name in ["gslda", "gspca", "eslda", "fisher", "gloss", "qalpha", "svm-rfe", "pca", "spca", "gp-ard"]))
case("format-sparse-tables-fit-evaluate-cluster", fit("csr.h5ad -k 2 -o m.json"), predict("m.json csc.h5ad"),
     evaluate("sparse.svm -k 1:2 --cv 3"), cluster("csc-labels.npz -k 3"))
for name in ["celsius", "copy", "escapes", "sepcol"]:
    case("table-" + name, select("%s.csv -k 1:2" % name), select("%s.csv -k 2 --json" % name),
         select("%s.csv --method eslda -k 1:2 --ridge 0" % name), evaluate("%s.csv -k 1:2 --cv 3" % name),
         fit("%s.csv -k 1 -o m.json" % name), predict("m.json %s.csv" % name),
         *[select("sepcol.csv --weights w --ridge 0 -k 1:2"), select("sepcol.csv --weights w -k 1:2 --json")]
             if name == "sepcol"
             else [],
         digests=("m.json",))
case("table-extreme-scales",
     *(select("large-scale.csv -k 2" + more)
         for more in [
             "", " --standardize", " --method qalpha", " --method qalpha --no-normalize", " --method gspca"]),
     *(select("small-scale.csv -k 2" + more) for more in ["", " --standardize", " --method qalpha --no-normalize"]))

# --- what is refused: usage ----------------------------------------------------------------------------------------

case("usage-commands-and-operands", run("selct sonar"), run("classify sonar"), run("--json select"), run("select"),
     run("select sonar wine.csv"), run("help nothing"), run("evaluate"), run("fit"), run("methods more"),
     run("methods --threads 2"), run("datasets --jsn"), run("select -- sonar -k"), run("select two.csv three.csv"),
     run("cluster two.csv two.csv"), run("verify"), run("reproduce icml06-fig1 icml06-fig2"))
case("usage-unknown-and-repeated-options", run("select sonar --methd ks"), run("select sonar --cv 5"),
     run("select sonar -k 3 -k 4"), run("select sonar --json --json"), run("select sonar -k"),
     run("select sonar --method"), run("select sonar --wibble"), run("select sonar -x"),
     run("select sonar --wibble=3"), run("evaluate sonar --refit x"), run("predict m.json sonar --json"),
     run("select sonar --json=maybe"), run("select sonar --classifier lda"), run("fit sonar --cv 3 -o m.json"),
     run("select sonar --data x"), run("cluster sonar --cv 3"), run("synth brownian --relevant 3"),
     run("evaluate sonar --data x --runs 3"))
case("usage-methods", select("two.csv --method fishr"), select("two.csv --method nothing-like-it"),
     select("two.csv --method ''"), select("two.csv --method ,"), evaluate("two.csv --method ks,ks"),
     evaluate("two.csv --method ,"), evaluate("two.csv --method ''"), evaluate("two.csv --method ks,fishr"),
     fit("two.csv --method '' -o -"), fit("two.csv --method gsldaa -o -"), select("two.csv --method GSLDA"),
     fit("two.csv --method fisher,ks -o m.json"))
case("select-wide-tables-get-the-passes-that-pay", synth("gaussian-classes --rows 60 --features 3000 -o wide3000.npz"),
     select("wide3000.npz -k 1:12 --verbose"), select("wide3000.npz -k 1:12 --method forward-lda"),
     select("wide3000.npz -k 2,4 --swaps 2 --verbose"), select("wide3000.npz -k 1:4 --criterion largest --json"),
     unread=("wide3000.npz",))


def rows_of_classes(counts):
    """Two columns, the first of which tells the classes apart."""
    lines = ["a,b,c,class"]
    for number, (name, count) in enumerate(counts):
        lines += ["%d,%d,%d,%s" % (7 * number + i % 5, (i * i + 3 * number) % 11, (5 * i + number) % 7, name) for i in range(count)]
    return "\n".join(lines) + "\n"


case("fit-and-evaluate-with-small-classes", fit("small-classes.csv -k 1:3 -o m.json"), evaluate("small-classes.csv -k 1:3"),
     evaluate("small-classes.csv -k 1:3 --cv 5"), fit("single.csv -k 1:2 -o m.json"), evaluate("single.csv -k 2"),
     fit("one-each.csv -k 2 -o m.json"), fit("one-each.csv -o m.json"), evaluate("one-each.csv"), digests=("m.json",),
     files={"small-classes.csv": rows_of_classes([("p", 9), ("q", 8), ("r", 3)]),
            "single.csv": rows_of_classes([("p", 9), ("q", 8), ("r", 1)]),
            "one-each.csv": rows_of_classes([("c%d" % i, 1) for i in range(12)])})
case("fit-without-a-feature", fit("two.csv --method gloss --lambda 1e6 -o m.json"), run("predict m.json two.csv"),
     fit("two.csv --method sda --lambda 1e6 --classifier knn -o m.json"), run("predict m.json two.csv"), digests=("m.json",))
case("sizes-lists-steps-and-series", select("two.csv -k 1,2,5 --method fisher -o r.json"), verify("r.json two.csv"), select("two.csv -k 1:8:3"),
     select("two.csv -k log --method fisher --json"), select("two.csv -k 2,7 --method eslda"),
     select("two.csv -k 3,5 --method gloss"), select("two.csv -k 6,2 --groups groups.csv"), evaluate("two.csv -k 1,4 --json"),
     fit("two.csv -k 1,4 -o m.json"), digests=("r.json", "m.json"))
case("usage-sizes",
     *(select("two.csv -k " + k)
         for k in ["0", "9", "3:2", "1:9", "a", "1:", ":3", "-1", "1.5", "''", "99999999999999999999", "1,9", "1:9:2",
                   "1:8:0", "1,,2", "log,3"]),
     select("two.csv -k 4 --groups groups.csv"), select("two.csv --groups groups.csv -k 7"),
     evaluate("two.csv -k 9"), fit("two.csv -k 9 -o m.json"), select(PAIR + " -k 6"),
     select("--covariance covariance.csv -k 6"))
case("usage-values-for-every-command",
     *(select("two.csv -k 2 " + line)
         for line in [
             "--ridge -1", "--ridge much", "--ridge nan", "--criterion best", "--missing guess", "--components -1",
             "--components many", "--seed -1", "--seed 1.5", "--seed 99999999999999999999999", "--memory-limit many",
             "--memory-limit 0", "--memory-limit 5X", "--time-limit 0", "--time-limit -3", "--time-limit soon",
             "--progress sometimes", "--index-base 2", "--index-base a", "--features -1", "--features 99999999999",
             "--weights class", "--weights f1 --target f1", "--include @none.txt", "--exclude @none.txt",
             "--include f9", "--exclude f9", "--include F1", "--groups none.csv", "--require-gap -1",
             "--require-gap nan", "--standardize=maybe", "--weights f9", "--target labl"]),
     run("select two.csv --threads -1"), run("select two.csv --threads two"),
     evaluate("two.csv --weights f1 --cv-groups f1"))
case("usage-matrices", select("two.csv --covariance covariance.csv"), select("--between between.csv"),
     select("--within within.csv"), select("--covariance covariance.csv " + PAIR), select("--covariance none.csv"),
     select("--between between.csv --within none.csv"), evaluate("--covariance covariance.csv"))
case("usage-evaluate",
     *(evaluate("two.csv -k 1 " + line)
         for line in [
             "--cv 1", "--cv 0", "--cv many", "--cv 5 --test-fraction 0.2", "--test-fraction 1.5",
             "--test-fraction -0.2", "--test-fraction a", "--repeats 0", "--repeats a", "--null -1",
             "--select-on some", "--classifier oracle", "--prior flat", "--cv-groups f9", "--cv 21", "--cv 40",
             "--cv-groups class", "--cv-groups class --cv 2"]))
case("usage-classifiers",
     *(evaluate("two.csv -k 1 " + line)
         for line in [
             "--C 1", "--classifier svm --C 0", "--classifier svm --C a", "--lengthscale 2", "--signal 2",
             "--hyperparameters fixed", "--restarts 3", "--neighbors 3", "--svm-kernel rbf", "--svm-gamma 1",
             "--svm-degree 3", "--classifier svm --svm-gamma 1", "--classifier svm --svm-degree 3",
             "--classifier svm --svm-kernel rbf --svm-degree 3", "--classifier svm --svm-kernel rbf --svm-gamma 0",
             "--classifier svm --svm-kernel poly --svm-degree 0",
             "--classifier svm --svm-kernel poly --svm-degree 21", "--classifier svm --svm-kernel cubic",
             "--classifier knn --neighbors 0", "--ard", "--classifier lda --ard",
             "--classifier gp-ep --lengthscale 0", "--classifier gp-ep --lengthscale 1,2",
             "--classifier gp-ep --lengthscale a", "--classifier gp-ep --signal 0",
             "--classifier gp-ep --restarts 0", "--classifier gp-ep --hyperparameters some",
             "--classifier knn --svm-kernel rbf", "--classifier svm --neighbors 3"]),
     evaluate("weights.csv --weights w -k 1 --classifier svm"),
     evaluate("weights.csv --weights w -k 1 --classifier knn"),
     evaluate("weights.csv --weights w -k 1 --classifier gp-ep"), fit("two.csv --lengthscale 2 -k 2 -o m.json"),
     fit("two.csv -k 3"), fit("two.csv -k 2 --ard -o m.json"),
     fit("two.csv -k 2 --classifier svm --svm-kernel poly --svm-degree 20 --svm-gamma 1e200 -o m.json"),
     fit("two.csv -k 2 --classifier gp-ep --hyperparameters fixed --signal 1e200 -o m.json"))
case("usage-options-of-another-method",
     *(select("two.csv -k 2 --method %s" % line)
         for line in [
             "gslda --pool 2", "gslda --lambda 2", "fisher --swaps 3", "eslda --threshold x", "qalpha --gamma 1",
             "ks --kernel linear", "gslda --lengthscale 2", "gloss --alpha 1", "rvm-entry --prune 0",
             "sda --epsilon 1", "sfd --l2 1", "gslda --C 1", "qalpha --laplacian-shift degree",
             "svm-rmb --rfe-step 1", "pca --shave 0.1", "spca --rho 1", "sulda --lambda 1",
             "qalpha-supervised --clusters 3"]),
     select("two.csv -k 2 --pool 2"), evaluate("two.csv -k 2 --pool 2"), fit("two.csv -k 2 --pool 2 -o m.json"),
     evaluate("two.csv --method ks,fisher -k 2 --lambda 1"), select("unlabelled.csv --target none -k 1 --swaps 2"))
case("usage-exact",
     *(select("two.csv --method eslda -k 3 " + line)
         for line in [
             "--pool 0", "--pool -1", "--pool two", "--pool 99999999", "--gap -0.1", "--gap nan", "--gap 1%",
             "--node-limit -5", "--node-limit 1.5", "--checkpoint-every -1", "--checkpoint-every soon",
             "--checkpoint -", "--resume -", "--events -", "--checkpoint none/s.json", "--events none/e.jsonl",
             "--checkpoint .", "--events ."]),
     select("two.csv -k 2 --events e.jsonl"), select("two.csv -k 2 --method gslda --events e.jsonl"),
     evaluate("two.csv -k 3 --method eslda --checkpoint x.json"),
     select("two.csv -k 3 --method espca --components 2 --checkpoint x.json"),
     fit("two.csv -k 2:3 --method eslda --resume x.json -o m.json"))
case("usage-one-file-for-two-purposes",
     *(select("two.csv --method eslda -k 2 " + line)
         for line in [
             "--checkpoint two.csv", "-o r --checkpoint r", "--events two.csv", "-o two.csv",
             "--groups groups.csv --checkpoint groups.csv", "--groups groups.csv -o ./groups.csv",
             "--checkpoint s --events s", "--include @names.txt -o names.txt"]),
     select("--covariance covariance.csv --method espca -k 1 --checkpoint covariance.csv"),
     select("two.csv --refit refit.txt -o refit.txt"))
case("usage-outputs-that-cannot-be-written", select("two.csv -k 1 -o none/r.json"), select("two.csv -k 1 -o ."),
     select("two.csv -k 1 -o /dev/full"), evaluate("two.csv -k 1 -o none/e.json"),
     fit("two.csv -k 1 -o none/m.json"), cluster("two.csv -o ."), select("two.csv -k 1", stdout="/dev/full"),
     select("two.csv --method eslda -k 2 --events /dev/full"))
case("usage-scoring",
     *(select("two.csv " + line)
         for line in [
             "--method gloss --lambda -1", "--method gloss --lambda much", "--method gloss --lambda auto:2",
             "--method gloss --lambda auto:", "--method gloss --lambda 0", "--method gloss --lambdas 1",
             "--method gloss --lambda-ratio 2", "--method gloss --lambda-ratio 0", "--method rvm-row --prune -1",
             "--method rvm-row --prune 1", "--method rvm-row --alpha 0", "--method rvm-row --tolerance -1",
             "--method rvm-row --max-iterations 0", "--method rvm-row --rvm-update slow",
             "--method rvm-entry --alpha -1", "--method rvm-entry --tolerance 1", "--method gloss --tolerance 1",
             "--method gloss --max-iterations 0", "--method sda --l2 -1", "--method sda --tolerance 1",
             "--method sda --max-iterations 0", "--method plda --tolerance -1", "--method plda --max-iterations 0",
             "--method sulda --tolerance -1", "--method sulda --max-iterations 0", "--method sfd --C 1 --lambda 2",
             "--method sfd --C 0", "--method sfd --C -1", "--method sfd --tolerance 1",
             "--method jeffreys-row --epsilon 0", "--method jeffreys-row --epsilon -1",
             "--method jeffreys-entry --tolerance -1", "--method rvm-row --include f3 -k 5",
             "--method gloss --include f3", "--method gloss --groups groups.csv",
             "--method rvm-row --lambda 1e-30 --prune 0"]))
case("usage-qalpha",
     *(select("two.csv " + line)
         for line in [
             "--method qalpha --clusters 0", "--method qalpha --restarts 0", "--method qalpha --max-iterations 0",
             "--method qalpha --tolerance -1", "--method qalpha --start sideways", "--method qalpha --start ones",
             "--method qalpha-basic --start ones", "--method qalpha-kernel --start ones",
             "--method qalpha-kernel --kernel cubic", "--method qalpha-kernel --kernel poly:0:1",
             "--method qalpha-kernel --kernel poly:2:-1", "--method qalpha-kernel --kernel rbf:0",
             "--method qalpha-kernel --kernel block2:0", "--method qalpha-kernel --kernel poly:100:1e9",
             "--method qalpha-kernel --kernel-tolerance -1", "--method qalpha-kernel --kernel-tolerance 2",
             "--method qalpha-supervised --gamma -1", "--method qalpha-supervised --within-vectors 0",
             "--method qalpha-supervised --between-vectors -1", "--method qalpha-semi --supervision 2",
             "--method qalpha-semi --supervision -1", "--method qalpha-laplacian --laplacian-shift much",
             "--method qalpha --groups groups.csv"]),
     select("unlabelled.csv --target none --method qalpha-semi"),
     select("unlabelled.csv --target none --method qalpha-supervised"), select("one.csv --method qalpha-semi"),
     files={"one.csv": "a,b,class\n1,2,x\n2,1,x\n4,4,x\n3,9,x\n"})
case("usage-machines",
     *(select("two.csv " + line)
         for line in [
             "--method gp-ard --lengthscale 0", "--method gp-ard --lengthscale 1,2", "--method gp-ard --signal -1",
             "--method gp-ard --restarts 0", "--method gp-ard --max-iterations 0", "--method gp-ard --tolerance -1",
             "--method gp-ard --approximation exact", "--method gp-ard --hyperparameters some",
             "--method svm-rfe --C 0", "--method svm-rfe --rfe-step 0", "--method svm-rfe --rfe-step 1.5",
             "--method svm-rfe --rfe-step -1", "--method svm-rfe --rfe-single -1", "--method svm-rmb --C 0",
             "--method svm-rmb --max-iterations 0", "--method svm-rmb --tolerance -1",
             "--method gp-ard --groups groups.csv"]))
case("usage-components-and-sparse-pca",
     *(select("two.csv " + line)
         for line in [
             "--method gene-shaving --shave 0", "--method gene-shaving --shave 1",
             "--method gene-shaving --permutations 0", "--method pca --include f1",
             "--method gene-shaving --include f1", "--method pca --groups groups.csv", "--method spca --lambda cv",
             "--method spca --include f1", "--method spca --l2 -1", "--method spca --l2 much",
             "--method spca --tolerance 1", "--method spca --max-iterations 0", "--method dspca --rho -1",
             "--method dspca --tolerance 1", "--method dspca --max-iterations 0", "--method dspca --include f1 -k 2",
             "--method spca --groups groups.csv", "--method dspca --groups groups.csv",
             "--method st --groups groups.csv", "--method fisher --groups groups.csv", "--method gslda --swaps -1",
             "--method gslda --swaps a", "--method st --threshold z"]))
case("usage-refit",
     *(select("two.csv --refit " + line)
         for line in [
             "none.json", "refit.txt --method st", "refit.txt -k 2", "empty.txt", "twice.txt", "mixed.txt",
             "unknown.txt", "broken.json", "foreign.json", "nameless.json", "numbers.json", "no-sets.json", "."]),
     select("copies.csv --refit dependent.txt --ridge 0"), select("named-twice.csv --refit a.txt"),
     files={
         "empty.txt": "# nothing\n", "twice.txt": "f0\nf0\n", "mixed.txt": "f0,0.5\nf1\n",
         "unknown.txt": "f0\nf77\n", "broken.json": '{"schema": ',
         "foreign.json": '{"schema": "subspectra.model/1"}',
         "nameless.json": '{"schema": "subspectra.selection/1", "path": [{"k": 1}]}',
         "numbers.json": '{"schema": "subspectra.selection/1", "path": [{"names": [1]}]}',
         "no-sets.json": '{"schema": "subspectra.selection/1", "path": []}', "dependent.txt": "f0\ncopy\n",
         "named-twice.csv": "a,a,class\n1,2,u\n2,2,u\n3,5,v\n5,4,v\n4,1,v\n", "a.txt": "a,0.5\n"})

# --- what is refused: constraints that no set satisfies ------------------------------------------------------------

case("infeasible-constraints",
     *(select(line)
         for line in [
             "two.csv --include f1 --exclude f1", "two.csv --include f1,f2,f3 -k 2",
             "copies.csv --include constant -k 2", "copies.csv --include f0,copy --ridge 0 -k 3",
             "copies.csv --include f1,f2,sum --ridge 0 -k 4 --method forward-pca",
             "two.csv --exclude f0,f1,f2,f3,f4,f5 -k 3", "two.csv --exclude f0,f1,f2,f3,f4,f5 -k 1:3",
             "two.csv --exclude f0,f1,f2,f3,f4,f5,f6,f7", "two.csv --groups groups.csv --include first,second -k 1",
             "two.csv --groups groups.csv --include f0",
             "copies.csv --ridge 0 --method eslda -k 2 --include f0,copy,f1",
             "copies.csv --ridge 0 --method backward-lda -k 3", "sepcol.csv --ridge 0 --method eslda -k 1",
             "copies.csv --ridge 0 --method gspca --include f0,copy -k 3"]),
     fit("two.csv --include f1 --exclude f1 -k 1 -o m.json"), evaluate("two.csv --include f1,f2 -k 1"),
     fit("copies.csv --method forward-lda --include f0,copy --ridge 0 -k 2 -o m.json"),
     fit("copies.csv --method gspca --include f0,copy --ridge 0 -k 2 -o m.json"),
     fit("sepcol.csv --method fisher --ridge 0 -k 1 -o m.json"),
     select("--between pair.csv --within singular.csv --ridge 0 --method gspca --include a,b -k 2"),
     select("--between pair.csv --within singular.csv --ridge 0 -k 2"),
     select("--between pair.csv --within singular.csv --ridge 0 --method gspca --groups sets.csv -k 1"),
     select("--between pair.csv --within singular.csv --ridge 0 --method backward-pca -k 1"),
     select("--between pair.csv --within singular.csv --ridge 0 --method gspca --groups sets.csv --include a -k 1"),
     select("copies.csv --method fisher --exclude sum --ridge 0 -k 1:9"), digests=("m.json",),
     files={
         "pair.csv": "a,b,c\n2,0.5,0\n0.5,1,0\n0,0,1\n", "singular.csv": "a,b,c\n1,1,0\n1,1,0\n0,0,1\n",
         "sets.csv": "feature,group\na,ab\nb,ab\n"})

# --- what is refused: data -----------------------------------------------------------------------------------------


def bad_tables(ending, tables, *options):
    """For each (name, content[, options]) a select on the file, in one case."""
    steps, files = [], {}
    for name, content, *more in tables:
        files[name + ending] = content
        steps.append(select(" ".join([name + ending] + list(options) + more)))
    return steps, files


(steps, files) = bad_tables(".csv",
                            [
                                ("ragged", "a,b,class\n1,2,u\n3,v\n"), ("long", "a,b,class\n1,2,u\n3,4,v,9\n"),
                                ("one-field", "a,b,class\n1,2,u\n3\n"),
                                ("text-in-numbers", "a,b,class\n1,2,u\n3,4,u\n5,oops,v\n6,7,v\n"),
                                ("two-texts", "id,a,b,name,class\np,1,2,x,u\nq,3,1,y,u\nr,2,2,z,v\n"),
                                ("comma", "a,b,class\n1;2,2,u\n3,4,v\n"),
                                ("decimal-comma", 'a,b,class\n"1,5",2,u\n"3,2",4,v\n'),
                                ("unknown-target", "a,b,label\n1,2,u\n3,4,v\n", "--target labl"),
                                ("one-class", "a,b,class\n1,2,u\n3,4,u\n"),
                                ("no-label", "a,b,class\n1,2,\n3,4,\n", "--target class"),
                                ("two-classes-columns", "a,class,class\n1,u,x\n2,v,y\n"),
                                ("missing", "a,b,class\n1,2,u\n3,NA,u\n5,6,v\n7,7,v\n"),
                                ("missing-many", "a,b,class\n1,,u\n,NA,u\n5,6,v\n7,7,v\n"),
                                ("infinite", "a,b,class\n1,2,u\n3,inf,u\n5,6,v\n7,7,v\n"),
                                ("too-large", "a,b,class\n1,2,u\n3,4,u\n5,1e400,v\n7,7,v\n", "--missing mean"),
                                (
                                    "negative-weight", "a,b,w,class\n1,2,1,u\n3,4,-1,u\n5,1,2,v\n7,7,1,v\n",
                                    "--weights w"),
                                ("text-weight", "a,w,class\n1,heavy,u\n3,1,u\n5,2,v\n7,1,v\n", "--weights w"),
                                ("missing-weight", "a,w,class\n1,1,u\n3,,u\n5,2,v\n7,1,v\n", "--weights w"),
                                ("no-weight", "a,w,class\n1,0,u\n3,0,u\n5,0,v\n", "--weights w"),
                                ("open-quote", 'a,b,class\n1,2,u\n"3,4,v\n'),
                                ("after-quote", 'a,b,class\n1,"2"x,u\n3,4,v\n'),
                                ("zero-byte", b"a,b,class\n1,\x00,u\n3,4,v\n"),
                                ("utf16", "a,b\n1,2\n".encode("utf-16")), ("tabs", "a\tb\tclass\n1\t2\tu\n"),
                                ("semicolons", "a;b;class\n1;2;u\n"), ("blank", "\n\n\n"), ("empty", ""),
                                ("only-header", "a,b,class\n"), ("no-numbers", "name,class\nx,u\ny,v\n"),
                                ("all-excluded", "a,b,class\n1,2,u\n3,4,v\n", "--exclude a,b"),
                                ("constant", "a,b,class\n1,2,u\n1,2,v\n1,2,u\n"),
                                ("empty-column", "a,b,class\n1,NA,u\n3,,u\n5,NA,v\n7,,v\n", "--missing drop"),
                                ("empty-column-mean", "a,b,class\n1,NA,u\n3,,u\n5,NA,v\n7,,v\n", "--missing mean"),
                                ("nothing-left", "a,b,class\n1,,u\n,2,u\n,3,v\n4,,v\n", "--missing drop"),
                                ("class-gone", "a,b,class\n1,1,u\n3,2,u\n,3,v\n4,,v\n", "--missing drop"),
                                ("every-row-a-class", "a,b,name\n1,2,p\n3,4,q\n5,7,r\n"),
                                ("two-text-columns", "a,b,x,y\n1,2,u,p\n3,4,v,q\n5,7,u,p\n", "--exclude x"),
                                ("zero-weights", "a,b,w,class\n1,2,1,u\n3,4,0,u\n5,1,2,v\n7,7,1,v\n", "--weights w"),
                                ("unlabelled-rows", "a,b,class\n1,2,u\n3,4,\n5,1,v\n7,7,v\n"),
                                ("unlabelled-drop", "a,b,class\n1,2,u\n3,4,\n5,1,v\n7,7,v\n", "--missing drop"),
                                ("one-row", "a,b,class\n1,2,u\n"),
                                (
                                    "class-gone-of-three", "a,b,class\n1,1,u\n3,2,u\n,3,v\n4,,v\n5,1,w\n6,9,w\n",
                                    "--missing drop"),
                                ("no-columns", "class\nu\nv\n"),
                                ("two-weights", "a,w,w,class\n1,1,1,u\n2,1,1,v\n3,1,2,u\n", "--weights w"),
                                ("same-names", "a,a,class\n1,2,u\n2,2,u\n3,5,v\n5,4,v\n4,1,v\n", "-k 1 --include a"),
                                ("latin1", "höhe,länge,class\n1,2,u\n2,2,u\n3,5,v\n5,4,v\n".encode("latin-1")),
                                ("counted", "0,1,2\n5,3,u\n4,4,v\n6,1,u\n")])
case("data-csv", *steps, files=files)
(steps, files) = bad_tables(".tsv",
                            [
                                ("commas", "a,b,class\n1,2,u\n"),
                                ("infinite", "a\tb\tclass\n1\t2\tu\n+Infinity\t4\tu\n5\t-inf\tv\n-INF\t7\tv\n"),
                                ("ragged", "a\tb\tclass\n1\t2\tu\n3\tv\n")])
case("data-tsv", *steps, files=files)
(steps, files) = bad_tables(".svm",
                            [
                                ("no-rows", "# nothing\n\n"), ("no-label", "1:2 3:4\n"),
                                ("several-labels", "1,2 1:3\n"), ("index-0", "1 0:3 2:1\n0 1:2\n"),
                                ("below", "1 -1:3\n"), ("no-number", "1 1:x\n"), ("no-pair", "1 12\n"),
                                ("twice", "1 1:3 1:4\n"), ("over", "1 1:3 5:4\n0 1:1\n", "--features 3"),
                                ("huge", "1 99999999999:3\n"), ("sparse-index", "1 2000000000:3\n0 1:2\n"),
                                ("qid", "1 1:2 qid:3\n"), ("zero-byte", b"1 1:2\n0\x00 1:3\n"),
                                ("colon", "1 1:2 :3\n"), ("unlabelled", "? 1:2\n1 1:3\n0 1:4 2:1\n"),
                                ("infinite", "1 1:inf\n0 1:2\n")])
case("data-libsvm", *steps, files=files)
HEAD = "@relation t\n@attribute a numeric\n@attribute b numeric\n@attribute class {u,v}\n"
(steps, files) = bad_tables(".arff",
                            [
                                ("no-data", HEAD), ("no-rows", HEAD + "@data\n"),
                                ("no-attributes", "@relation t\n@data\n1,2\n"), ("strange", "@relation t\nhello\n"),
                                ("no-type", "@relation t\n@attribute a\n@data\n1\n"),
                                ("no-name", "@relation t\n@attribute\n@data\n"),
                                ("type", "@relation t\n@attribute a complex\n@data\n1\n"),
                                ("open-list", "@relation t\n@attribute c {u,v\n@data\nu\n"),
                                ("empty-list", "@relation t\n@attribute c {}\n@data\nu\n"),
                                ("empty-value", "@relation t\n@attribute c {u,,v}\n@data\nu\n"),
                                ("undeclared", HEAD + "@data\n1,2,u\n3,4,w\n"),
                                ("no-number", HEAD + "@data\n1,x,u\n"), ("short", HEAD + "@data\n1,u\n"),
                                ("long", HEAD + "@data\n1,2,u,4\n"), ("weighted", HEAD + "@data\n1,2,u,{3}\n"),
                                ("open-quote", HEAD + "@data\n1,2,'u\n"),
                                ("after-quote", HEAD + "@data\n1,2,'u'x\n"),
                                ("open-row", HEAD + "@data\n{0 1, 2 u\n"), ("no-index", HEAD + "@data\n{x 1}\n"),
                                ("index", HEAD + "@data\n{9 1}\n"), ("index-twice", HEAD + "@data\n{0 1, 0 2}\n"),
                                ("no-value", HEAD + "@data\n{0}\n"), ("lost-value", HEAD + "@data\n{0 , 1 2}\n"),
                                ("after-row", HEAD + "@data\n{0 1} x\n"),
                                ("mixed", HEAD + "@data\n1,2,u\n{0 1, 2 v}\n"),
                                ("zero-byte", b"@relation t\n\x00\n"),
                                (
                                    "weight", HEAD.replace("b num", "w num") + "@data\n1,1,u\n2,1,u\n3,-4,v\n",
                                    "--weights w")])
case("data-arff", *steps, files=files)
case("data-npy",
     *(select(name + ".npy")
         for name in [
             "vector", "cube", "complex", "objects", "texts", "structured", "no-rows", "cut-two", "garbage",
             "version9", "header", "empty"]),
     files={"empty.npy": ""})
def fileset(samples=24, variants=9):
    """A PLINK fileset: variant 2 goes with the phenotype, one genotype in fifteen is missing."""
    state, bed = 12345, bytearray(b"\x6c\x1b\x01")
    for j in range(variants):
        codes = []
        for i in range(samples):
            state = (1103515245 * state + 12345) % 2 ** 31
            draw = state >> 16
            codes.append(1 if draw % 15 == 0 else (0, 2, 3)[draw // 15 % 3] if j != 2 or draw % 4 == 0 else (0, 3)[i % 2])
        bed += bytes(sum(code << 2 * k for k, code in enumerate(codes[i:i + 4])) for i in range(0, samples, 4))
    return {"set.bed": bytes(bed),
            "set.bim": "".join("1\t%s\t0\t%d\tA\tC\n" % ("." if j == 4 else "rs%d" % j, 100 + j) for j in range(variants)),
            "set.fam": "".join("f%d i%d 0 0 %d %d\n" % (i // 2, i, 1 + i % 2, 1 + i % 2) for i in range(samples))}


FILESET = fileset()
case("data-bed",
     select("set.bed -k 1:3 --method forward-lda --ridge rel:0.01"), select("set.bed --method fisher --verbose"),
     select("set.bed -k 2 --standardize --missing median --json --method gslda"), evaluate("set.bed --method fisher -k 1:3 --cv-groups FID"),
     fit("set.bed --method fisher -k 2 -o m.json"), predict("m.json set.bed"), select("set.bed --target sex -k 1 --method fisher"),
     select("set.bed --missing drop -k 1 --method fisher"), select("set.bed --transpose"), files=FILESET, digests=("m.json",))
case("data-bed-damaged",
     select("short.bed"), select("samples.bed"), select("magic.bed"), select("fields.bed"), select("alone.bed"), select("none.bed"),
     files={**{name + ending: FILESET["set" + ending] for name in ("short", "samples", "magic", "fields") for ending in (".bim", ".fam")},
            "short.bed": FILESET["set.bed"][:-1], "samples.bed": b"\x6c\x1b\0" + FILESET["set.bed"][3:],
            "magic.bed": b"PK\1" + FILESET["set.bed"][3:], "fields.bed": FILESET["set.bed"], "alone.bed": FILESET["set.bed"],
            "fields.bim": FILESET["set.bim"] + "1 rs9\n"})
case("data-npz",
     *(select(name + ".npz")
         for name in [
             "two-tables", "short-y", "short-names", "object-x", "object-y", "cube-x", "coo", "half-sparse",
             "bad-shape", "bad-indices", "bad-indptr", "falling-indptr", "negative-shape", "real-indices",
             "uneven-sparse", "twice", "bzip2", "encrypted", "member", "several-texts", "cut-two", "cut-packed",
             "garbage", "tiny"]),
     select("two.npz --target nothing"), files={"tiny.npz": "PK"})
case("data-mat",
     *(select(name + ".mat")
         for name in [
             "no-table", "complex", "short-y", "struct-x", "short-names", "empty-x", "names-73", "cut-two",
             "cut-packed", "garbage", "no-table73", "short-y73", "vector73", "struct73", "cut-two73"]))
case("data-h5ad",
     *(select(name + ".h5ad")
         for name in [
             "no-x", "vector-x", "text-x", "linked", "coo", "lzf", "old-obs", "short-obs", "short-var", "bad-codes",
             "cut-dense", "garbage"]),
     select("dense.h5ad --target nothing"), select("dense.h5ad --target depth -k 1"))
case("data-gzip",
     *(select(name + ".csv.gz") for name in ["cut-two", "garbage", "tail", "flipped", "plain", "empty"]),
     files={"plain.csv.gz": "a,b,class\n1,2,u\n", "empty.csv.gz": ""})
case("data-places", select("none.csv"), select("sonr"), select("."), select("t.parquet"), select("noending"),
     select("''"), evaluate("none.csv"), fit("none.csv -o m.json"), select("/dev/null"),
     files={"t.parquet": "x", "noending": "a,b\n1,2\n"})
case("data-garbage-in-text-formats", select("garbage.svm"), select("garbage.arff"))
case("data-labels-and-folds", evaluate("no-labels.csv -k 1"), evaluate("one-class.csv -k 1"),
     evaluate("few.csv -k 1"), evaluate("few.csv -k 1 --cv 2"), evaluate("ids.csv -k 1 --exclude id --target f3"),
     evaluate("semi.csv --target class -k 1"), evaluate("semi.csv --target class -k 1 --missing drop --cv 3"),
     evaluate("tied.csv -k 1 --cv-groups g --cv 2"), evaluate("tied.csv -k 1 --cv-groups g --cv loo"),
     evaluate("tied.csv -k 1 --cv-groups g --cv 5"), evaluate("gap-group.csv -k 1 --cv-groups g --cv 2"),
     evaluate("alone.csv -k 1 --cv loo"), evaluate("alone.csv -k 1 --test-fraction 0.5"),
     evaluate("one-group.csv -k 1 --cv-groups g --cv 2"),
     files={
         "no-labels.csv": "a,b\n1,2\n3,4\n5,5\n", "one-class.csv": "a,b,class\n1,2,u\n3,4,u\n",
         "few.csv": "a,b,class\n1,2,u\n3,4,u\n5,7,u\n6,7,u\n2,1,u\n4,4,v\n5,9,v\n",
         "tied.csv": "a,b,g,class\n1,2,p,u\n3,4,p,u\n5,7,q,v\n6,7,q,v\n2,1,q,v\n4,4,q,v\n",
         "gap-group.csv": "a,b,g,class\n1,2,p,u\n3,4,,u\n5,7,q,v\n6,7,q,v\n",
         "alone.csv": "a,b,class\n1,2,u\n3,4,v\n",
         "one-group.csv": "a,b,g,class\n1,2,p,u\n3,4,p,u\n5,7,p,v\n6,7,p,v\n"})
case("data-groups-of-features",
     *(select("two.csv -k 1 --groups " + name)
         for name in [
             "header.csv", "fields.csv", "nothing.csv", "nobody.csv", "unnamed.csv", "near.csv", "unknown.csv",
             "twice.csv", "clash.csv", "blank.csv", "no-header.csv", "quote.csv"]),
     files={
         "header.csv": "name,set\nf0,a\n", "fields.csv": "feature,group\nf0,a,b\n", "nothing.csv": "feature,group\n",
         "nobody.csv": "feature,group\n,a\n", "unnamed.csv": "feature,group\nf0,\n",
         "near.csv": "feature,group\nF0,a\n", "unknown.csv": "feature,group\nheight,a\n",
         "twice.csv": "feature,group\nf0,a\nf0,b\n", "clash.csv": "feature,group\nf0,f7\n", "blank.csv": "",
         "no-header.csv": "f0,a\nf1,a\n", "quote.csv": 'feature,group\n"f0,a\n'})
case("data-matrices",
     *(select("--covariance " + name)
         for name in [
             "zero.csv", "text.csv", "oblong.csv", "tall.csv", "taller.csv", "short.csv", "asymmetric.csv",
             "missing.csv", "infinite.csv", "negative.csv", "indefinite.csv", "row-names.csv", "wrong-names.csv",
             "blank.csv", "decimal.csv", "m.json", "oblong.npy", "vector.npy", "complex.npy"]),
     select("--covariance half.csv --exclude b"), select("--between zero.csv --within zero.csv"),
     select("--between other.csv --within within.csv"), select("--between named.csv --within pair.csv"),
     select("--between indefinite.csv --within pair.csv"), select("--between pair.csv --within indefinite.csv"),
     select("--between pair.csv --within asymmetric.csv"),
     files={
         "zero.csv": "0,0\n0,0\n", "half.csv": "a,b\n0,0\n0,2\n", "text.csv": "a,b\n1,x\n0,2\n",
         "oblong.csv": "a,b,c\n1,0,0\n0,1,0\n", "tall.csv": "1,0\n0,1\n0,0\n", "taller.csv": "1,0\n0,1\n0,0\n0,0\n",
         "short.csv": "a,b\n1,0\n0\n", "asymmetric.csv": "a,b\n1,0.5\n0.4,1\n", "missing.csv": "a,b\n1,NA\n0,1\n",
         "infinite.csv": "a,b\n1,inf\n0,1\n", "negative.csv": "a,b\n1,0\n0,-1\n",
         "indefinite.csv": "a,b\n1,2\n2,1\n", "row-names.csv": ",a,b\na,1,0\nb,0,2\n",
         "wrong-names.csv": ",a,b\na,1,0\nc,0,2\n", "blank.csv": "\n", "decimal.csv": 'a,b\n"1,5",0\n0,1\n',
         "m.json": "{}", "other.csv": "a,b\n1,0\n0,1\n", "named.csv": "x,y\n1,0\n0,1\n",
         "pair.csv": "a,b\n2,0.5\n0.5,1\n"})
case("memory-limit", select("two.csv --memory-limit 1k -k 2"),
     select("two.npy --target none --memory-limit 100 -k 2"), select("sonar --memory-limit 1k -k 2"),
     evaluate("two.csv -k 2 --memory-limit 1k"), select("sparse.svm --memory-limit 1k -k 2"),
     select("two.arff --memory-limit 1k -k 2"), select("two.npz --memory-limit 1k -k 2"),
     select("--covariance covariance.csv --memory-limit 100 -k 2"))

# --- the files people have -----------------------------------------------------------------------------------------


def rows_of(fields, rows=24):
    """Lines of a table: fields(i, second class or not) of every row, the first half of the first class."""
    return "".join(",".join(fields(i, 2 * i >= rows)) + "\n" for i in range(rows))


def measured(i, second):
    """Three numbers: one that tells the classes apart, though not perfectly, and two that do not."""
    return ["%.3f" % ((i * 7 % 11) / 4 + 1.5 * second), "%.2f" % (i * 5 % 13), "%d" % (i * 3 % 7)]


PANDAS = "Unnamed: 0,a,b,c,kind\n" + rows_of(lambda i, v: ["%d" % i] + measured(i, v) + ["v" if v else "u"])
NAMED_ROWS = "sample,a,b,c,kind\n" + rows_of(lambda i, v: ["s%d" % i] + measured(i, v) + ["v" if v else "u"])
OUTCOME = "a,b,c,outcome\n" + rows_of(lambda i, v: measured(i, v) + ["%d" % v])
CLINICAL = "a,b,c,stage,smoker,class\n" + rows_of(
    lambda i, v: measured(i, v) + ["NA" if i == 5 else "I II III".split()[(i + v) % 3], "TRUE" if i % 3 else "FALSE",
                                   "v" if v else "u"])
LEAKY = "a,b,c,after,code,class\n" + rows_of(
    lambda i, v: measured(i, v) + ["%d" % (i + 100 * v), "%d" % (3 + v), "v" if v else "u"])
SEMICOLONS = '"";"a";"b";"c";"kind"\n' + rows_of(
    lambda i, v: ['"%d"' % (i + 1)] + measured(i, v) + ['"v"' if v else '"u"']).replace(",", ";").replace(".", ",")
WRITE_TABLE = '"a" "b" "c" "kind"\n' + rows_of(
    lambda i, v: ['"s%d"' % i] + measured(i, v) + ['"v"' if v else '"u"']).replace(",", " ")


def turned(text):
    lines = [line.split(",") for line in text.split()]
    return [list(column) for column in zip(*lines)]


GENES = "".join(",".join(row) + "\n" for row in turned(NAMED_ROWS)[:-1]).replace("sample", "gene", 1)
PHENOTYPES = "sample,age,kind\n" + rows_of(lambda i, v: ["s%d" % (23 - i), "%d" % (30 + i), "u" if v else "v"])
GCT = "#1.2\n3\t24\n" + "".join(
    "\t".join([row[0] if row[0] != "gene" else "Name", "Description" if row[0] == "gene" else "-"] + row[1:]) + "\n"
    for row in [line.split(",") for line in GENES.split()])


def quoted(values):
    return "\t".join('"%s"' % value for value in values)


def series(*characteristics, table=True):
    ids = ["GSM%d" % i for i in range(24)]
    lines = ['!Series_title\t"A "small" series"', "", "!Sample_title\t" + quoted("p%d" % i for i in range(24)),
             "!Sample_geo_accession\t" + quoted(ids)]
    lines += ["!Sample_characteristics_ch1\t" + quoted(values) for values in characteristics]
    lines += ["!series_matrix_table_begin", '"ID_REF"\t' + quoted(ids)]
    if table:
        lines += ['"%s"\t%s' % (row[0], "\t".join(row[1:])) for row in turned(NAMED_ROWS)[1:-1]]
    return "\n".join(lines + ["!series_matrix_table_end"]) + "\n"


STATES = ["disease state: " + ("tumor" if 2 * i >= 24 else "normal") for i in range(24)]
SEXES = ["Sex: " + "FM"[i * 5 % 3 % 2] for i in range(24)]
COUNTS = "%%MatrixMarket matrix coordinate integer general\n3 24 54\n" + "".join(
    "%d %d %d\n" % (g + 1, c + 1, 1 + (g * 5 + c * 3) % 7 + 3 * (g == 1 and 2 * c >= 24))
    for c in range(24) for g in range(3) if (c + g) % 4)
TENX = {
    "cells_matrix.mtx": COUNTS, "cells_barcodes.tsv": "".join("s%d\n" % i for i in range(24)),
    "cells_features.tsv": "e1\tA\ne2\tB\ne3\tB\n"}

case("files-index-and-ids", select("pandas.csv -k 1:2"), evaluate("pandas.csv --method fisher -k 1:2 --json -o e.json"),
     select("named.csv -k 2 --json"), fit("named.csv -k 2 --method fisher -o m.json"), predict("m.json named.csv"),
     predict("m.json -", "sample,b,a,c\nnew 1,1,2,3\nnew 2,3,0.5,1\n"), predict("m.json - --quiet", "b,a,c\n1,2,3\n"),
     fit("named.csv -k 2 --method fisher --id b -o n.json"), select("named.csv --id smaple"), select("only-ids.csv"),
     evaluate("only-ids.csv"), select("only-ids.csv --method gslda"), select("only-ids.csv --method gspca -k 1"),
     select("only-ids.csv --target none -k 1"), select("named.csv --exclude smaple -k 1"),
     files={
         "pandas.csv": PANDAS, "named.csv": NAMED_ROWS,
         "only-ids.csv": "gene,s1,s2,s3\ng1,1,2,3\ng2,2,1,5\ng3,5,2,2\ng4,1,1,4\n"})
case("files-outcome-of-zeros-and-ones", select("outcome.csv -k 1:2"), evaluate("two.csv --method fisher -k 1"),
     evaluate("both.csv -k 1"), evaluate("whole.csv -k 1"),
     files={
         "outcome.csv": OUTCOME, "two.csv": OUTCOME, "both.csv": OUTCOME.replace("c,", "y,", 1).replace(",0,", ",1,"),
         "whole.csv": OUTCOME.replace("outcome", "z")})
case("files-missing-values", select("gaps.csv -k 1:2 --na -9,none --missing median"),
     fit("gaps.csv -k 3 --method fisher --na -9,none --missing indicator --standardize -o m.json"),
     predict("m.json - --na -9", "a,b,c\n-9,1,1\n2,,1\n"), select("gaps.csv -k 1 --na -9"),
     evaluate("gaps.csv --na -9,none --missing indicator -k 1:2 --method forward-lda"),
     select("gaps.csv --na -9,none --missing indicator -k 1:2 --json -o r.json"), verify("r.json gaps.csv"),
     files={"gaps.csv": OUTCOME.replace(",0.00,", ",-9,").replace(",5.00,", ",none,")})
case("files-semicolons-and-write-table", select("excel.csv -k 2"), select("table.txt -k 2"),
     select("pandas.dat -k 2 --format csv"), select("pandas.dat -k 2"), select("pandas.csv --format xls"),
     select("pandas.csv --format tsv"), select("excel.csv -k 1 --format csv"), select("- -k 2", stdin=SEMICOLONS),
     select("mixed.csv -k 1"), select("tabs.txt -k 1"), select("commas.txt -k 1"),
     files={
         "excel.csv": SEMICOLONS, "table.txt": WRITE_TABLE, "pandas.dat": PANDAS, "pandas.csv": PANDAS,
         "mixed.csv": SEMICOLONS.replace(",", ".", 1), "tabs.txt": NAMED_ROWS.replace(",", "\t"),
         "commas.txt": NAMED_ROWS})
case("files-samples-in-columns", select("genes.csv"), evaluate("genes.csv --method fisher -k 1"),
     select("genes.csv --transpose --labels phenotypes.csv:kind -k 2 -o r.json"), verify("r.json genes.csv"),
     select("genes.csv --labels phenotypes.csv -k 2"), select("genes.csv --transpose -k 2"),
     select("genes.csv --labels phenotypes.csv:kin"), select("genes.csv --labels none.csv"),
     select("genes.csv --labels phenotypes.csv --target a"), select("genes.csv --labels other.csv"),
     select("classed.csv --transpose -k 2"), select("genes.gct --labels phenotypes.csv -k 2"), select("cut.gct"),
     files={
         "genes.csv": GENES, "phenotypes.csv": PHENOTYPES, "genes.gct": GCT, "cut.gct": GCT[:-20],
         "other.csv": "sample,kind\nt1,u\nt2,v\n",
         "classed.csv": "".join(",".join(row) + "\n" for row in turned(NAMED_ROWS))})
case("files-labels-by-number-and-class-file", select("counted.csv --labels numbers.csv -k 1"),
     select("plain.csv --labels numbers.csv -k 1"), select("plain.csv --labels named.csv -k 1"),
     select("genes.gct --labels genes.cls -k 1"), select("genes.gct --labels short.cls -k 1"),
     fit("genes.csv --labels phenotypes.csv:kind --method fisher -k 2 -o m.json"), predict("m.json genes.csv"),
     predict("m.json genes.csv --transpose"),
     files={
         "counted.csv": ",a,b\n0,1,5\n1,2,4\n2,3,9\n3,4,2\n", "plain.csv": "a,b\n.5,5\n2,4\n3,9\n4,2\n",
         "numbers.csv": "row,group\n3,u\n0,u\n1,v\n2,v\n", "named.csv": "sample,group\ns3,u\ns1,u\ns2,v\ns4,v\n",
         "genes.csv": GENES, "phenotypes.csv": PHENOTYPES, "genes.gct": GCT,
         "genes.cls": "24 2 1\n# tumour normal\n" + " ".join(str(i % 2) for i in range(24)) + "\n",
         "short.cls": "2 2 1\n# tumour normal\n0 1\n"})
case("files-series-matrix", select("one.txt -k 2"), evaluate("two.txt --method fisher -k 1"), select("two.txt"),
     evaluate("two.txt --target 'disease state' --method fisher -k 1:2"), select("two.txt --target disease"),
     fit("one.txt -k 2 --method fisher -o m.json"), predict("m.json two.txt"), select("empty.txt"), select("cut.txt"),
     select("genes.csv --labels 'empty.txt:disease state' -k 1"),
     files={
         "one.txt": series(STATES), "two.txt": series(STATES, SEXES), "empty.txt": series(STATES, table=False),
         "cut.txt": series(STATES)[:-40], "genes.csv": GENES.replace("s1", "GSM1").replace("s2", "GSM2")})
case("files-categories", select("clinical.csv -k 1:4 --missing mean -o r.json"), verify("r.json clinical.csv"),
     select("clinical.csv -k 1"), select("clinical.csv -k 2 --missing mean --method fisher"),
     fit("clinical.csv -k 4 --missing mean --method forward-lda -o m.json"),
     predict("m.json -", "stage,smoker,c,b,a\nII,TRUE,1,2,3\nIV,FALSE,1,2,3\n"),
     predict("m.json -", "smoker,c,b,a\nTRUE,1,2,3\n"), select("clinical.csv --categorical none"),
     select("clinical.csv --categorical stage"), select("clinical.csv --categorical c --exclude stage,smoker -k 1:3"),
     evaluate("clinical.csv --missing mean --method forward-lda -k 1:3"), select("dates.csv"),
     fit("clinical.csv --missing mean -o n.json"), fit("clinical.csv --missing mean -k 2 -o n.json"),
     files={
         "clinical.csv": CLINICAL,
         "dates.csv": "day,a,class\n2020-01-31,1,u\n2020-01-31,2,v\n2020-02-01,3,u\n2020-02-01,4,v\n"})
case("files-10x", select("cells_matrix.mtx --labels phenotypes.csv -k 1:2"), select("cells_matrix.mtx"),
     select("cells_features.tsv"), select("lonely_matrix.mtx --target none -k 1"), select("bad.mtx"),
     select("lonely_matrix.mtx --transpose --names names.txt --labels in-order.txt -k 1"),
     files={
         **TENX, "phenotypes.csv": PHENOTYPES, "lonely_matrix.mtx": COUNTS, "bad.mtx": COUNTS[:-8],
         "names.txt": "A\nB\nC\n", "in-order.txt": "u\n" * 12 + "v\n" * 12})
case("files-possible-leaks-and-covariances", select("leaky.csv -k 1"), select("leaky.csv -k 1 --exclude after,code"),
     select("covariance.csv"), select("covariance.csv --target none -k 1 --method gspca"),
     select("--covariance covariance.csv -k 1"),
     files={"leaky.csv": LEAKY, "covariance.csv": "a,b,c\n2,0.5,0.1\n0.5,1,0\n0.1,0,1\n"})
case("files-names-of-sparse-tables", select("t.svm --names names.txt -k 1:2"), select("t.svm --names short.txt"),
     files={
         "t.svm": "".join("%s 1:%d 2:%d\n" % ("vu"[i % 2], i % 5 + i % 2, i % 3) for i in range(20)),
         "names.txt": "first\nsecond\nthird\n", "short.txt": "first\n"})

# --- the page (what it looks like: report/test) ----------------------------------------------------------------------

case("report-pages-of-results", select("two.csv -k 1:4 -o s.json"),
     evaluate("two.csv --method gslda,fisher -k 1:3 -o e.json"), run("report s.json e.json --data two.csv -o page.html"),
     select("two.csv --method eslda -k 2 --report exact.html --events log.jsonl -o x.json"),
     run("report x.json log.jsonl -o with-log.html --quiet"), fit("two.csv --method fisher -k 2 -o m.json --report m.html"),
     run("report m.json -o model.html"), cluster("unlabelled.csv --target none -k 2 --report c.html"),
     digests=("s.json", "e.json", "x.json", "m.json"),
     unread=("page.html", "exact.html", "log.jsonl", "with-log.html", "m.html", "model.html", "c.html"))
case("report-figures", select("two.csv -k 1:4 -o s.json"), run("report s.json --figures ."), digests=("s.json",))
case("report-refuses", run("report"), run("report two.csv -o p.html"), run("report missing.json -o p.html"),
     select("two.csv -k 1:2 -o s.json"), run("report s.json"), run("report s.json -o s.json"),
     run("report s.json -o p.html --data three.csv"), run("report s.json -o nowhere/p.html"),
     select("two.csv -k 1:2 --report p.html --shape 3x1"), select("two.csv -k 1:2 --report p.html --shape 3"),
     *(step for says, change in [
         ("a feature that is not there", lambda result: result["path"][1].update(features=[0, 99])),
         ("a size in words", lambda result: result["path"][0].update(k="one")),
         ("another schema", lambda result: result.update(schema="subspectra.selection/9")),
         ("too few loadings", lambda result: result["path"][1].update(loadings=[[1.0]]))]
       for step in (Edit("s.json", "bad.json", says, change), run("report bad.json -o p.html"))), digests=("s.json",))
