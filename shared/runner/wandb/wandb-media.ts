/** The third part of the module that stands in for wandb: media, which become files, and its functions. */
export const wandbMedia = String.raw`# -- media, which become files, and the functions of the module


class _Media:
    _folder = "files"

    def __init__(self, data_or_path=None, *args, caption=None, **others):
        self._data = data_or_path
        self._caption = caption

    def _save(self, path):
        if isinstance(self._data, (str, os.PathLike)) and os.path.isfile(self._data):
            shutil.copyfile(self._data, path + os.path.splitext(str(self._data))[1])
        else:
            _say("%s is kept only if it is a file" % type(self).__name__)


class Image(_Media):
    _folder = "images"

    def _save(self, path):
        data = self._data
        if isinstance(data, (str, os.PathLike)):
            shutil.copyfile(data, path + (os.path.splitext(str(data))[1] or ".png"))
        elif hasattr(data, "savefig"):
            data.savefig(path + ".png")
        elif hasattr(data, "save") and hasattr(data, "mode"):
            data.save(path + ".png")
        elif hasattr(data, "figure") and hasattr(data.figure, "savefig"):
            data.figure.savefig(path + ".png")
        else:
            with open(path + ".png", "wb") as file:
                file.write(_png(data))


def _png(data):
    """A PNG of an array (height, width[, channels]), or of a tensor (channels, height, width)."""
    is_tensor = hasattr(data, "detach")
    if is_tensor:
        data = data.detach().cpu().numpy()
    shape = data.shape
    if is_tensor and len(shape) == 3 and shape[0] in (1, 3, 4):
        data = data.transpose(1, 2, 0)
    if len(data.shape) == 3 and data.shape[2] == 1:
        data = data[:, :, 0]
    if str(data.dtype) != "uint8":
        low, high = float(data.min()), float(data.max())
        scale = 255.0 if low >= 0 and high <= 1 else 255.0 / ((high - low) or 1.0)
        data = ((data - (0 if low >= 0 and high <= 1 else low)) * scale).clip(0, 255).astype("uint8")
    height, width = data.shape[:2]
    kind = {1: 0, 2: 4, 3: 2, 4: 6}[1 if len(data.shape) == 2 else data.shape[2]]
    rows = b"".join(b"\0" + data[y].tobytes() for y in range(height))

    def chunk(name, body):
        return struct.pack(">I", len(body)) + name + body + struct.pack(">I", zlib.crc32(name + body))

    head = struct.pack(">IIBBBBB", width, height, 8, kind, 0, 0, 0)
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", head) + chunk(b"IDAT", zlib.compress(rows)) + chunk(b"IEND", b"")


class Histogram(_Media):
    _folder = "histograms"

    def __init__(self, sequence=None, np_histogram=None, num_bins=64):
        self.histogram, self.bins = [], []
        if np_histogram is not None:
            self.histogram, self.bins = [list(map(float, part)) for part in np_histogram]
            return
        values = sequence.detach().cpu() if hasattr(sequence, "detach") else sequence
        values = values.flatten().tolist() if hasattr(values, "flatten") else values
        values = [v for v in map(float, values if values is not None else []) if math.isfinite(v)]
        if values:
            low, high = min(values), max(values)
            width = (high - low) / num_bins or 1.0
            self.bins = [low + width * at for at in range(num_bins + 1)]
            self.histogram = [0] * num_bins
            for value in values:
                self.histogram[min(num_bins - 1, int((value - low) / width))] += 1

    def _save(self, path):
        with open(path + ".json", "w") as file:
            json.dump({"bins": self.bins, "values": self.histogram}, file)


class Table(_Media):
    _folder = "tables"

    def __init__(self, columns=None, data=None, dataframe=None, rows=None, **others):
        if dataframe is not None:
            columns, data = list(dataframe.columns), dataframe.values.tolist()
        data = data if data is not None else rows
        self.columns = list(columns) if columns is not None else ["Input", "Output", "Expected"]
        self.data = [list(row) for row in (data if data is not None else [])]

    def add_data(self, *row):
        if len(self.data) == _MAX_ROWS:
            _say("a table keeps %d rows" % _MAX_ROWS)
        if len(self.data) < _MAX_ROWS:
            self.data.append(list(row))

    def add_column(self, name, data):
        self.columns.append(name)
        self.data = [row + [one] for row, one in zip(self.data or [[] for _ in data], data)]

    def get_column(self, name, convert_to=None):
        at = self.columns.index(name)
        return [row[at] for row in self.data]

    def _save(self, path):
        import csv
        with open(path + ".csv", "w", newline="") as file:
            table = csv.writer(file)
            table.writerow(self.columns)
            for at, row in enumerate(self.data[:_MAX_ROWS]):
                table.writerow([self._cell(path, at, cell) for cell in row])

    def _cell(self, path, at, cell):
        if not hasattr(cell, "_save"):
            return cell
        if run is not None:
            run._save_media("%s_%d" % (os.path.basename(path), at), cell)
        return type(cell).__name__


class Html(_Media):
    _folder = "html"

    def __init__(self, data, inject=True, **others):
        self._data = data.read() if hasattr(data, "read") else data

    def _save(self, path):
        is_file = len(str(self._data)) < 4096 and os.path.isfile(str(self._data))
        if is_file:
            shutil.copyfile(self._data, path + ".html")
        else:
            with open(path + ".html", "w") as file:
                file.write(str(self._data))


class Video(_Media):
    _folder = "videos"


class Audio(_Media):
    _folder = "audio"


class Object3D(_Media):
    _folder = "objects"


class Molecule(_Media):
    _folder = "molecules"


class Plotly(_Media):
    _folder = "plots"

    def _save(self, path):
        with open(path + ".html", "w") as file:
            file.write(self._data.to_html())


class Artifact:
    def __init__(self, name, type=None, description=None, metadata=None, **others):
        self.name, self.type = name, type
        self.description, self.metadata = description, metadata or {}
        self._files = []

    def add_file(self, local_path, name=None, **others):
        self._files.append((str(local_path), name or os.path.basename(str(local_path))))

    def add_dir(self, local_path, name=None, **others):
        for folder, _, names in os.walk(str(local_path)):
            for one in names:
                path = os.path.join(folder, one)
                self._files.append((path, os.path.join(name or "", os.path.relpath(path, str(local_path)))))

    def add(self, value, name):
        made = os.path.join(os.environ.get("TMPDIR", "/tmp"), uuid.uuid4().hex)
        value._save(made)
        for ending in (".csv", ".png", ".json", ".html"):
            if os.path.exists(made + ending):
                self.add_file(made + ending, name + ending)

    def new_file(self, name, mode="w", **others):
        folder = os.path.join(os.environ.get("TMPDIR", "/tmp"), uuid.uuid4().hex)
        os.makedirs(folder)
        self._files.append((os.path.join(folder, name), name))
        return open(os.path.join(folder, name), mode)

    def wait(self, *args, **others):
        return self

    def __getattr__(self, name):
        if name.startswith("__"):
            raise AttributeError(name)
        return _Unknown("Artifact." + name)


class Settings(types.SimpleNamespace):
    def __init__(self, *args, **others):
        super().__init__(**others)


class Error(Exception):
    pass


class AlertLevel:
    INFO, WARN, ERROR = "INFO", "WARN", "ERROR"


class _Before:
    """config and summary before init."""

    def __init__(self, name):
        object.__setattr__(self, "_name", name)

    def _fail(self, *_, **__):
        raise Error("You must call wandb.init() before wandb.%s" % self._name)

    __getitem__ = __setitem__ = __setattr__ = update = _fail

    def __getattr__(self, name):
        if name.startswith("__"):
            raise AttributeError(name)
        self._fail()


run = None
config = _Before("config")
summary = _Before("summary")


def init(project=None, entity=None, reinit=None, **others):
    global run, config, summary
    if run is not None:
        if not reinit:
            run.config.update(others.get("config"))
            return run
        run.finish()
    run = Run(project=project, **others)
    config, summary = run.config, run.summary
    return run


def log(data=None, step=None, commit=None, sync=None):
    if run is None:
        raise Error("You must call wandb.init() before wandb.log()")
    run.log(data, step=step, commit=commit)


def finish(exit_code=None, quiet=None):
    if run is not None:
        run.finish(exit_code)


join = finish


def _of_run(name):
    def call(*args, **others):
        if run is None:
            _say("%s before init does nothing" % name)
            return None
        return getattr(run, name)(*args, **others)

    call.__name__ = name
    return call


for _name in ("alert", "define_metric", "log_artifact", "log_model", "log_code", "save", "unwatch", "watch"):
    globals()[_name] = _of_run(_name)


def login(*args, **others):
    return True


def setup(*args, **others):
    return None


def ensure_configured(*args, **others):
    return None


def termlog(string="", *args, **others):
    print("wandb: " + str(string), file=sys.stderr)


termwarn = termerror = termlog


def sweep(sweep=None, *args, **others):
    _say("sweeps of wandb are not known here: an agent runs its function once; see mps sweep")
    return uuid.uuid4().hex[:8]


def agent(sweep_id, function=None, count=None, **others):
    if function is not None:
        function()


`;
