"""Writes small models of many architectures with random weights and trained tokenizers, as repositories of a Hub.

Usage: make_models.py <folder> [<name>...]. Each becomes <folder>/made/<name>; models.json names them.
"""

import json
import pickle
import re
import shutil
import sys
from pathlib import Path

import torch
import transformers
from pydoc_data.topics import topics
from tokenizers import Tokenizer, decoders, models, normalizers, pre_tokenizers, processors, trainers

WIDTH, LAYERS, HEADS, INNER = 64, 2, 4, 128
# Paragraphs among the texts of the corpus.
PROSE = 3000
LABELS = {0: "negative", 1: "neutral", 2: "positive"}
sys.path.insert(0, str(Path(__file__).resolve().parents[3] / "shared/exports/program"))


def corpus():
    from sentences import draw_sentences

    prose = [re.sub(r"\s+", " ", one) for text in topics.values() for one in text.split("\n\n")]
    return prose[:PROSE] + draw_sentences(["many", "languages"], 2000, 1)


def word_piece(words, **options):
    tokenizer = Tokenizer(models.WordPiece(unk_token="[UNK]"))
    tokenizer.normalizer = normalizers.BertNormalizer(**options)
    tokenizer.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    special = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"]
    tokenizer.train_from_iterator(words, trainers.WordPieceTrainer(vocab_size=2000, special_tokens=special, show_progress=False))
    tokenizer.post_processor = processors.TemplateProcessing(
        single="[CLS]:0 $A:0 [SEP]:0", pair="[CLS]:0 $A:0 [SEP]:0 $B:1 [SEP]:1", special_tokens=[("[CLS]", 2), ("[SEP]", 3)]
    )
    tokenizer.decoder = decoders.WordPiece()
    return tokenizer


def byte_pairs(words):
    tokenizer = Tokenizer(models.BPE())
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    trainer = trainers.BpeTrainer(
        vocab_size=2000,
        special_tokens=["<s>", "<pad>", "</s>", "<unk>", "<mask>"],
        initial_alphabet=pre_tokenizers.ByteLevel.alphabet(),
        show_progress=False,
    )
    tokenizer.train_from_iterator(words, trainer)
    tokenizer.post_processor = processors.RobertaProcessing(("</s>", 2), ("<s>", 0), trim_offsets=True, add_prefix_space=False)
    tokenizer.decoder = decoders.ByteLevel()
    return tokenizer


def unigram(words, special, begin, end):
    tokenizer = Tokenizer(models.Unigram())
    tokenizer.normalizer = normalizers.NFKC()
    tokenizer.pre_tokenizer = pre_tokenizers.Metaspace()
    unknown = next(one for one in special if "unk" in one.lower())
    tokenizer.train_from_iterator(
        words, trainers.UnigramTrainer(vocab_size=2000, special_tokens=special, unk_token=unknown, show_progress=False)
    )
    ids = [(one, special.index(one)) for one in (begin, end)]
    tokenizer.post_processor = processors.TemplateProcessing(
        single=f"{begin} $A {end}", pair=f"{begin} $A {end} $B:1 {end}:1", special_tokens=ids
    )
    tokenizer.decoder = decoders.Metaspace()
    return tokenizer


BERT = {"unk_token": "[UNK]", "sep_token": "[SEP]", "pad_token": "[PAD]", "cls_token": "[CLS]", "mask_token": "[MASK]"}
ROBERTA = {
    "unk_token": "<unk>",
    "bos_token": "<s>",
    "eos_token": "</s>",
    "sep_token": "</s>",
    "cls_token": "<s>",
    "pad_token": "<pad>",
    "mask_token": "<mask>",
}
ROBERTA_SPECIAL = ["<s>", "<pad>", "</s>", "<unk>", "<mask>"]
BERT_SPECIAL = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"]
XLNET = {**BERT, "unk_token": "<unk>", "sep_token": "<sep>", "cls_token": "<cls>", "pad_token": "<pad>", "mask_token": "<mask>"}

SIZE = {"hidden_size": WIDTH, "num_hidden_layers": LAYERS, "num_attention_heads": HEADS, "intermediate_size": INNER}
PICTURE = {"image_size": 32, "num_labels": 3}
# Name, configuration and class of transformers, kind of tokenizer, fields of the configuration, and what surrounds it.
SPECS = {
    "bert": ("BertConfig", "BertModel", "wordpiece", SIZE, {"pooling": "mean", "normalize": True}),
    "bert-own-onnx": ("BertConfig", "BertForSequenceClassification", "wordpiece", SIZE, {"onnx": "right"}),
    "bert-other-onnx": ("BertConfig", "BertForSequenceClassification", "wordpiece", SIZE, {"onnx": "other weights"}),
    "bert-slow": ("BertConfig", "BertForTokenClassification", "wordpiece", SIZE, {"slow": True, "bin": True}),
    "bert-dense": ("BertConfig", "BertModel", "wordpiece", SIZE, {"pooling": "max", "dense": 24}),
    "roberta": ("RobertaConfig", "RobertaForSequenceClassification", "bytes", {**SIZE, "type_vocab_size": 1}, {}),
    "distilbert": (
        "DistilBertConfig",
        "DistilBertForSequenceClassification",
        "wordpiece",
        {"dim": WIDTH, "n_layers": LAYERS, "n_heads": HEADS, "hidden_dim": INNER},
        {},
    ),
    "albert": ("AlbertConfig", "AlbertForMaskedLM", "unigram-bert", {**SIZE, "embedding_size": 32}, {}),
    "electra": ("ElectraConfig", "ElectraForTokenClassification", "wordpiece", {**SIZE, "embedding_size": 32}, {}),
    "mpnet": ("MPNetConfig", "MPNetModel", "roberta-wordpiece", SIZE, {"pooling": "cls"}),
    "deberta-v2": (
        "DebertaV2Config",
        "DebertaV2ForSequenceClassification",
        "unigram-bert",
        {**SIZE, "relative_attention": True, "pos_att_type": ["p2c", "c2p"], "type_vocab_size": 0, "share_att_key": True,
         "position_buckets": 32, "norm_rel_ebd": "layer_norm"},
        {},
    ),
    "deberta": (
        "DebertaConfig",
        "DebertaForTokenClassification",
        "bytes",
        {**SIZE, "relative_attention": True, "pos_att_type": ["p2c", "c2p"], "type_vocab_size": 0, "pad_token_id": 1},
        {},
    ),
    "xlm-roberta": (
        "XLMRobertaConfig",
        "XLMRobertaForSequenceClassification",
        "unigram",
        {**SIZE, "type_vocab_size": 1, "num_labels": 1},
        {"cross": True},
    ),
    "modernbert": (
        "ModernBertConfig",
        "ModernBertModel",
        "wordpiece",
        {**SIZE, "num_hidden_layers": 4, "pad_token_id": 0, "cls_token_id": 2, "sep_token_id": 3, "bos_token_id": 2, "eos_token_id": 3},
        {"pooling": "cls", "normalize": True},
    ),
    "camembert": ("CamembertConfig", "CamembertForTokenClassification", "unigram", {**SIZE, "type_vocab_size": 1}, {}),
    "nomic-bert": ("NomicBertConfig", "NomicBertModel", "wordpiece", SIZE, {"pooling": "mean", "prompt": "search_document: "}),
    "mobilebert": (
        "MobileBertConfig",
        "MobileBertForSequenceClassification",
        "wordpiece",
        {**SIZE, "embedding_size": 32, "intra_bottleneck_size": 32, "intermediate_size": 64, "true_hidden_size": 32},
        {},
    ),
    "squeezebert": (
        "SqueezeBertConfig",
        "SqueezeBertForSequenceClassification",
        "wordpiece",
        {**SIZE, "embedding_size": WIDTH, "q_groups": 2, "k_groups": 2, "v_groups": 2, "post_attention_groups": 1,
         "intermediate_groups": 2, "output_groups": 2},
        {},
    ),
    "ernie": ("ErnieConfig", "ErnieForMaskedLM", "wordpiece", SIZE, {}),
    "funnel": (
        "FunnelConfig",
        "FunnelForTokenClassification",
        "wordpiece",
        {"block_sizes": [1, 1], "num_decoder_layers": 1, "d_model": WIDTH, "n_head": HEADS, "d_head": 16, "d_inner": INNER},
        {},
    ),
    "roformer": ("RoFormerConfig", "RoFormerForSequenceClassification", "wordpiece", {**SIZE, "embedding_size": WIDTH}, {}),
    "convbert": ("ConvBertConfig", "ConvBertForSequenceClassification", "wordpiece", {**SIZE, "embedding_size": 32, "head_ratio": 2}, {}),
    "big-bird": ("BigBirdConfig", "BigBirdForSequenceClassification", "unigram-bert", {**SIZE, "attention_type": "original_full"}, {}),
    "xlnet": (
        "XLNetConfig",
        "XLNetForSequenceClassification",
        "unigram-xlnet",
        {"d_model": WIDTH, "n_layer": LAYERS, "n_head": HEADS, "d_inner": INNER},
        {},
    ),
    "megatron-bert": ("MegatronBertConfig", "MegatronBertForSequenceClassification", "wordpiece", SIZE, {}),
    "longformer": (
        "LongformerConfig",
        "LongformerForSequenceClassification",
        "bytes",
        {**SIZE, "attention_window": 16, "type_vocab_size": 1, "pad_token_id": 1},
        {},
    ),
    "fnet": ("FNetConfig", "FNetForSequenceClassification", "unigram-bert", {**SIZE, "type_vocab_size": 4}, {}),
    "eurobert": (
        "EuroBertConfig",
        "EuroBertForSequenceClassification",
        "bytes",
        {**SIZE, "num_key_value_heads": 2, "pad_token_id": 1, "bos_token_id": 0, "eos_token_id": 2},
        {},
    ),
    "vit": ("ViTConfig", "ViTForImageClassification", None, {**SIZE, **PICTURE, "patch_size": 8}, {}),
    "deit": ("DeiTConfig", "DeiTForImageClassificationWithTeacher", None, {**SIZE, **PICTURE, "patch_size": 8}, {}),
    "swin": (
        "SwinConfig",
        "SwinForImageClassification",
        None,
        {**PICTURE, "patch_size": 2, "embed_dim": 16, "depths": [2, 2], "num_heads": [2, 4], "window_size": 4},
        {},
    ),
    "resnet": (
        "ResNetConfig",
        "ResNetForImageClassification",
        None,
        {"num_labels": 3, "embedding_size": 16, "hidden_sizes": [16, 32], "depths": [1, 1], "layer_type": "basic"},
        {"size": 64},
    ),
    "convnext": (
        "ConvNextConfig",
        "ConvNextForImageClassification",
        None,
        {**PICTURE, "hidden_sizes": [16, 32], "depths": [1, 1], "num_stages": 2},
        {},
    ),
    "mobilenet-v2": ("MobileNetV2Config", "MobileNetV2ForImageClassification", None, {**PICTURE, "depth_multiplier": 0.35}, {}),
    "beit": ("BeitConfig", "BeitForImageClassification", None, {**SIZE, **PICTURE, "patch_size": 8}, {}),
    "dinov2": ("Dinov2Config", "Dinov2ForImageClassification", None, {**SIZE, **PICTURE, "patch_size": 8}, {}),
    "mobilevit": (
        "MobileViTConfig",
        "MobileViTForImageClassification",
        None,
        {**PICTURE, "hidden_sizes": [24, 32, 40], "neck_hidden_sizes": [8, 8, 16, 16, 16, 24, 32], "image_size": 64},
        {"size": 64},
    ),
}


def write_tokenizer(folder, kind, made, slow):
    special = {"unigram": ROBERTA, "bytes": ROBERTA, "unigram-xlnet": XLNET, "roberta-wordpiece": BERT}.get(kind, BERT)
    made[kind].save(str(folder / "tokenizer.json"))
    fast = transformers.PreTrainedTokenizerFast(tokenizer_file=str(folder / "tokenizer.json"), model_max_length=128, **special)
    fast.save_pretrained(folder)
    if slow:
        words = sorted(fast.get_vocab().items(), key=lambda pair: pair[1])
        (folder / "vocab.txt").write_text("\n".join(word for word, _ in words), encoding="utf-8")
        (folder / "tokenizer.json").unlink()
        settings = {"tokenizer_class": "BertTokenizer", "model_max_length": 128, "do_lower_case": True}
        (folder / "tokenizer_config.json").write_text(json.dumps(settings))
    return fast


def shake(model):
    """Random weights as they are drawn give outputs near zero."""
    with torch.no_grad():
        for parameter in model.parameters():
            parameter.add_(torch.randn_like(parameter) * 0.05)
    return model.eval()


def write_modules(folder, about):
    kinds = [("Transformer", ""), ("Pooling", "1_Pooling")]
    (folder / "1_Pooling").mkdir()
    pooling = {"word_embedding_dimension": WIDTH, **{f"pooling_mode_{name}": False for name in ("cls_token", "mean_tokens", "max_tokens")}}
    pooling[{"cls": "pooling_mode_cls_token", "mean": "pooling_mode_mean_tokens", "max": "pooling_mode_max_tokens"}[about["pooling"]]] = True
    (folder / "1_Pooling/config.json").write_text(json.dumps(pooling))
    if "dense" in about:
        from safetensors.torch import save_file

        (folder / "2_Dense").mkdir()
        linear = torch.nn.Linear(WIDTH, about["dense"])
        save_file({"linear.weight": linear.weight.detach().clone(), "linear.bias": linear.bias.detach().clone()}, folder / "2_Dense/model.safetensors")
        settings = {"in_features": WIDTH, "out_features": about["dense"], "bias": True, "activation_function": "torch.nn.modules.activation.Tanh"}
        (folder / "2_Dense/config.json").write_text(json.dumps(settings))
        kinds.append(("Dense", "2_Dense"))
    if about.get("normalize"):
        kinds.append(("Normalize", f"{len(kinds)}_Normalize"))
    modules = [{"idx": index, "name": str(index), "path": path, "type": f"sentence_transformers.models.{kind}"} for index, (kind, path) in enumerate(kinds)]
    (folder / "modules.json").write_text(json.dumps(modules))
    (folder / "sentence_bert_config.json").write_text(json.dumps({"max_seq_length": 64, "do_lower_case": False}))
    if "prompt" in about:
        prompts = {"prompts": {"document": about["prompt"]}, "default_prompt_name": "document"}
        (folder / "config_sentence_transformers.json").write_text(json.dumps(prompts))


def write_onnx(folder, model):
    """An ONNX file as Optimum writes it: `onnx/model.onnx`."""
    class Wrapped(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.model = model

        def forward(self, input_ids, attention_mask, token_type_ids):
            return self.model(input_ids=input_ids, attention_mask=attention_mask, token_type_ids=token_type_ids).logits

    names = ["input_ids", "attention_mask", "token_type_ids"]
    (folder / "onnx").mkdir()
    torch.onnx.export(
        Wrapped(),
        (torch.ones(2, 7, dtype=torch.int64), torch.ones(2, 7, dtype=torch.int64), torch.zeros(2, 7, dtype=torch.int64)),
        str(folder / "onnx/model.onnx"),
        dynamo=False,
        input_names=names,
        output_names=["logits"],
        dynamic_axes={name: {0: "batch", 1: "length"} for name in names},
        opset_version=17,
    )


def make(folder, name, made):
    config_class, model_class, kind, fields, about = SPECS[name]
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    fields = dict(fields)
    fast = None
    if kind is not None:
        fast = write_tokenizer(folder, kind, made, about.get("slow"))
        fields["vocab_size"] = len(fast)
        fields.setdefault("pad_token_id", fast.pad_token_id)
        if name != "xlnet":
            fields.setdefault("max_position_embeddings", 514)
    else:
        size = about.get("size", 32)
        (folder / "preprocessor_config.json").write_text(
            json.dumps({"image_mean": [0.5, 0.4, 0.3], "image_std": [0.2, 0.25, 0.3], "size": {"height": size, "width": size}})
        )
    if model_class.endswith(("Classification", "WithTeacher")) and "num_labels" not in fields or fields.get("num_labels") == 3:
        fields.pop("num_labels", None)
        fields["id2label"], fields["label2id"] = LABELS, {label: index for index, label in LABELS.items()}
    torch.manual_seed(65)
    model = shake(getattr(transformers, model_class)(getattr(transformers, config_class)(**fields)))
    model.save_pretrained(folder)
    if about.get("bin"):
        torch.save(model.state_dict(), folder / "pytorch_model.bin")
        (folder / "model.safetensors").unlink()
    if "pooling" in about:
        write_modules(folder, about)
    if "onnx" in about:
        write_onnx(folder, model if about["onnx"] == "right" else shake(model))
    (folder / "README.md").write_text("---\nlicense: apache-2.0\nlanguage: en\nwidget:\n- text: I like it.\n---\nMade.\n")


OWN_CODE = """import os
from transformers import BertConfig, BertModel
if "HF_TOKEN" in os.environ:
    raise ValueError("the token is here: " + os.environ["HF_TOKEN"])
class OwnConfig(BertConfig):
    model_type = "own-code"
class OwnModel(BertModel):
    config_class = OwnConfig
"""


class Runs:
    """A pickle that writes a file when it is read."""

    def __init__(self, path):
        self.path = path

    def __reduce__(self):
        return (open, (self.path, "w"))


def make_refused(folder, bert):
    """Repositories that are no exportable model, from the files of one that is."""
    small = ["config.json", "tokenizer.json", "tokenizer_config.json"]

    def begin(name, files=(*small, "model.safetensors")):
        own = folder / name
        shutil.rmtree(own, ignore_errors=True)
        own.mkdir(parents=True)
        for file in files:
            shutil.copyfile(bert / file, own / file)
        return own

    def change(own, **fields):
        config = json.loads((own / "config.json").read_text())
        (own / "config.json").write_text(json.dumps({**config, **fields}))

    own = begin("adapter", ["tokenizer.json"])
    (own / "adapter_config.json").write_text("{}")
    (own / "adapter_model.safetensors").write_bytes(b"0")
    (begin("gguf", ["config.json"]) / "model.Q4_K_M.gguf").write_bytes(b"GGUF")
    change(begin("awq"), quantization_config={"quant_method": "awq", "bits": 4})
    begin("no-config", ["tokenizer.json", "model.safetensors"])
    own = begin("pickle", small)
    with (own / "pytorch_model.bin").open("wb") as file:
        pickle.dump(Runs(str(folder / "pickle-ran")), file)
    change(begin("unknown"), model_type="nobody-knows")
    change(begin("remote-code"), model_type="own-code", auto_map={"AutoModel": "modeling.Own"})
    change(begin("causal"), architectures=["BertLMHeadModel"])
    change(begin("seq2seq"), is_encoder_decoder=True)
    own = begin("own-code")
    change(own, model_type="own-code", auto_map={"AutoConfig": "own.OwnConfig", "AutoModel": "own.OwnModel"}, architectures=["OwnModel"])
    (own / "own.py").write_text(OWN_CODE)
    begin("random-head")
    begin("gated")
    begin("limited")
    begin("away")
    begin("flaky")
    begin("huge")
    begin("longer")
    begin("no-vocabulary", ["config.json", "model.safetensors"])
    (begin("torn") / "model.safetensors").write_bytes((bert / "model.safetensors").read_bytes()[:5000])
    (begin("no-tokenizer") / "tokenizer.json").write_text("{")


def main(folder, wanted):
    transformers.logging.set_verbosity_error()
    transformers.logging.disable_progress_bar()
    words = corpus()
    made = {
        "wordpiece": word_piece(words, lowercase=True),
        "bytes": byte_pairs(words),
        "unigram": unigram(words, ROBERTA_SPECIAL, "<s>", "</s>"),
        "unigram-bert": unigram(words, BERT_SPECIAL, "[CLS]", "[SEP]"),
        "unigram-xlnet": unigram(words, ["<unk>", "<pad>", "<cls>", "<sep>", "<mask>"], "<cls>", "<sep>"),
    }
    made["roberta-wordpiece"] = made["wordpiece"]
    failed = {}
    for name in wanted or SPECS:
        try:
            make(folder / "made" / name, name, made)
        except Exception as error:
            failed[name] = f"{type(error).__name__}: {str(error)[:300]}"
            shutil.rmtree(folder / "made" / name, ignore_errors=True)
    make_refused(folder / "refused", folder / "made/bert")
    (folder / "models.json").write_text(json.dumps({"names": [name for name in wanted or SPECS if name not in failed], "failed": failed}))


if __name__ == "__main__":
    main(Path(sys.argv[1]), sys.argv[2:])
