import { execFile } from 'node:child_process';
import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, expect, test } from 'vitest';

const run = promisify(execFile);
const program = join(import.meta.dirname, '../../../shared/exports/program');
const scratch = await mkdtemp(join(tmpdir(), 'export-program-'));

afterAll(() => rm(scratch, { recursive: true, force: true }));

/** Run lines of Python beside the program's files, with the `input` as JSON, and return what they put into `out`. */
async function python(lines: string, input: unknown): Promise<unknown> {
  const before = `import json, sys; sys.path.insert(0, sys.argv[1]); given = json.loads(sys.argv[2]); out = []\nfrom pathlib import Path\nfrom refusal import Refusal\n`;
  const code = `${before}${lines}\nprint(json.dumps(out))`;
  const { stdout } = await run('python3', ['-c', code, program, JSON.stringify(input)], {
    env: { ...process.env, PYTHONDONTWRITEBYTECODE: '1', HF_TOKEN: 'hf_secret' },
  });
  return JSON.parse(stdout);
}

async function writeFiles(name: string, files: Record<string, string>): Promise<string> {
  const folder = join(scratch, name);
  for (const [path, text] of Object.entries(files)) {
    await mkdir(dirname(join(folder, path)), { recursive: true });
    await writeFile(join(folder, path), text);
  }
  return folder;
}

test('a repository is refused by names and config.json, before its weights', async () => {
  const bert = { model_type: 'bert', architectures: ['BertForSequenceClassification'] };
  const cases: [names: string[], config: object, known: boolean, trusted: boolean, code: string][] = [
    [['config.json', 'model.safetensors'], bert, true, false, 'text-classification'],
    [['adapter_config.json', 'adapter_model.safetensors'], {}, true, false, 'adapter'],
    [['config.json', 'model.Q4_K_M.gguf'], {}, true, false, 'gguf'],
    [['model.Q4_K_M.gguf'], {}, true, false, 'gguf'],
    [['README.md', 'model.safetensors'], {}, true, false, 'no-config'],
    [['README.md', '1_Pooling/config.json'], {}, true, false, 'no-config'],
    [['small/config.json', 'small/model.safetensors'], {}, true, false, 'no-config (small/)'],
    [['config.json', 'tf_model.h5'], bert, true, false, 'no-weights'],
    [['config.json', 'onnx/model.onnx'], bert, true, false, 'no-weights'],
    [
      ['config.json'],
      { ...bert, quantization_config: { quant_method: 'awq' } },
      true,
      false,
      'quantized (awq)',
    ],
    [['config.json'], { model_type: 't5', is_encoder_decoder: true }, true, false, 'unsupported-task'],
    [
      ['config.json', 'model.safetensors'],
      { model_type: 'llama', architectures: ['LlamaForCausalLM'] },
      true,
      false,
      'unsupported-task',
    ],
    [
      ['config.json', 'model.safetensors'],
      { model_type: 'gpt2', architectures: ['GPT2LMHeadModel'] },
      true,
      false,
      'unsupported-task',
    ],
    [['config.json'], { model_type: 'nobody' }, false, false, 'unknown-architecture'],
    [['config.json'], { model_type: 7 }, false, false, 'unknown-architecture'],
    [['config.json'], { model_type: 'own', auto_map: { AutoModel: 'm.Own' } }, false, false, 'remote-code'],
    [
      ['config.json'],
      { model_type: 'own', auto_map: { AutoModel: 'else/where--m.Own' } },
      false,
      true,
      'remote-code',
    ],
    [
      ['config.json', 'model.safetensors'],
      { model_type: 'own', auto_map: { AutoModel: 'm.Own' }, architectures: ['OwnModel'] },
      false,
      true,
      'feature-extraction',
    ],
  ];
  const codes = await python(
    `from repository import *
for names, config, known, trusted, _ in given:
    try:
        check_names(names)
        check_config(config)
        check_code(config, known, trusted, "a/b")
        weight_files(names, Path("/nonexistent"), "")
        out.append(task_of(config, [], None, None))
    except Refusal as error:
        named = next((one for one in ("(awq)", "(small/)") if one in error.message), None)
        out.append(error.code + (f" {named}" if named else ""))`,
    cases,
  );

  expect(codes).toEqual(cases.map(([, , , , code]) => code));
});

test('safetensors come before a pickle, and code only when it is trusted', async () => {
  const index = { weight_map: { a: 'model-1.safetensors', b: 'model-2.safetensors' } };
  const folder = await writeFiles('shards', { 'model.safetensors.index.json': JSON.stringify(index) });
  const out = await python(
    `from repository import *
out.append(weight_files(["model.safetensors", "pytorch_model.bin"], Path(given), ""))
out.append(weight_files(["model-1.safetensors", "model-2.safetensors", "pytorch_model.bin"], Path(given), ""))
out.append(weight_files(["model-1.safetensors", "pytorch_model.bin"], Path(given), ""))
names = ["config.json", "1_Pooling/config.json", "other/config.json", "m.py", "../m.py", "onnx/model.onnx", "onnx/model.onnx_data"]
out += [small_files(names, False), small_files(names, True), onnx_files(names)]`,
    folder,
  );

  expect(out).toEqual([
    ['model.safetensors'],
    ['model.safetensors.index.json', 'model-1.safetensors', 'model-2.safetensors'],
    ['pytorch_model.bin'],
    ['config.json', '1_Pooling/config.json'],
    ['config.json', '1_Pooling/config.json', 'm.py'],
    ['onnx/model.onnx', 'onnx/model.onnx_data'],
  ]);
});

test('a model of texts without a vocabulary is refused', async () => {
  const cases: [names: string[], root: string, allowed: boolean][] = [
    [['config.json', 'tokenizer.json'], '', true],
    [['config.json', 'vocab.txt'], '', true],
    [['config.json', 'vocab.json', 'merges.txt'], '', true],
    [['0_Transformer/spiece.model'], '0_Transformer/', true],
    [['config.json', 'tokenizer_config.json', 'model.safetensors'], '', false],
    [['tokenizer.json'], '0_Transformer/', false],
    [['config.json', 'vocab.json'], '', false],
    [['config.json', 'merges.txt'], '', false],
  ];
  const out = await python(
    `from repository import check_tokenizer
for names, root, _ in given:
    try:
        check_tokenizer(names, root)
        out.append(True)
    except Refusal as error:
        out.append(error.code != "no-tokenizer")`,
    cases,
  );

  expect(out).toEqual(cases.map(([, , allowed]) => allowed));
});

test('no text is in both sets, and labels stay with their texts', async () => {
  const rows = Array.from({ length: 40 }, (_, index) => [`text ${index % 30}`, `class ${index % 30}`]);
  const folder = await writeFiles('texts', {
    'texts.txt': rows.map(([text]) => `${text}\r\n`).join(''),
    'labels.txt': rows.map(([, label]) => `${label}\n`).join(''),
    'few.txt': 'one\ntwo\n\n',
  });
  const out = await python(
    `from texts import choose_texts
folder = Path(given)
own = choose_texts(folder / "texts.txt", folder / "labels.txt", {})
listed = choose_texts(None, None, {"language": "de", "widget": [{"text": "Vom Kärtchen"}, 3]})
for sets in (own, listed):
    out.append([sets.origin, len(sets.calibration), len(sets.evaluation), len(set(sets.calibration) & set(sets.evaluation))])
out.append([text.split()[1] == label.split()[1] for text, label in zip(own.evaluation, own.labels)])
out.append("Vom Kärtchen" in listed.calibration + listed.evaluation)
for texts, labels in (("few.txt", None), ("texts.txt", "few.txt")):
    try:
        choose_texts(folder / texts, labels and folder / labels, {})
    except Refusal as error:
        out.append(error.code)`,
    folder,
  );

  expect(out).toEqual([
    ['user', 32, 23, 0],
    ['card and list', 128, 193, 0],
    Array.from({ length: 23 }, () => true),
    true,
    'bad-texts',
    'bad-labels',
  ]);
});

test('settings name all their faults, and no error has the token', async () => {
  const settings = { source: { hf: 'a/../b', revision: 'main' }, task: 'translate', texts: 'absent' };
  const folder = await writeFiles('settings', { 'settings.json': JSON.stringify(settings) });
  const failed = run(
    'python3',
    [join(program, 'export.py'), join(folder, 'settings.json'), join(folder, 'out')],
    {
      env: { ...process.env, PYTHONDONTWRITEBYTECODE: '1' },
    },
  );

  await expect(failed).rejects.toMatchObject({ code: 2 });
  const error = JSON.parse(await readFile(join(folder, 'out/error.json'), 'utf8'));
  expect(error).toMatchObject({ code: 'bad-settings' });
  expect(error.message).toMatch(/hf must be OWNER.*revision.*task.*texts/);
  const hidden = await python(
    `from refusal import reason_of
out.append(reason_of(ValueError("https://hub/?t=" + given)))`,
    'hf_secret',
  );
  expect(hidden).toEqual(['ValueError: https://hub/?t=[hidden]']);
});

test('size and scale of pictures have bounds, and what is wrong is named', async () => {
  const cases: [config: object, preprocessing: object | string, found: unknown][] = [
    [{}, {}, [[3, 224, 224], 0.5]],
    [{ image_size: [30, 40] }, { size: { height: 5 }, image_std: 0.25 }, [[3, 30, 40], 0.25]],
    [{}, { crop_size: { shortest_edge: 64 }, image_std: [1, 1, 1] }, [[3, 64, 64], 1]],
    [{}, { size: { height: 5 } }, 'size of'],
    [{}, { size: { longest_edge: 5 } }, 'size of'],
    [{}, { size: [224] }, 'size of'],
    [{ image_size: 1e9 }, {}, 'image_size of'],
    [{ image_size: 0 }, {}, 'image_size of'],
    [{ image_size: true }, {}, 'image_size of'],
    [{ num_channels: 1e9 }, {}, 'num_channels of'],
    [{ num_channels: -3 }, {}, 'num_channels of'],
    [{}, { image_std: [1, 0, 1] }, 'image_std of'],
    [{}, { image_std: [1, -1, 1] }, 'image_std of'],
    [{}, '{"image_std": [NaN, 1, 1]}', 'image_std of'],
    [{}, '{"image_mean": [Infinity, 0, 0]}', 'image_mean of'],
    [{}, { image_mean: [0.5, 0.5] }, 'image_mean of'],
  ];
  const given = cases.map(([config, stated]) => [
    config,
    typeof stated === 'string' ? stated : JSON.stringify(stated),
  ]);
  const found = await python(
    `from picture_settings import read_picture_settings
for config, stated in given:
    try:
        read = read_picture_settings(config, json.loads(stated))
        out.append([list(read.shape), read.std[0]])
    except Refusal as error:
        out.append(error.message.split(" of ")[0] + " of" if error.code == "bad-file" else error.code)`,
    given,
  );

  expect(found).toEqual(cases.map(([, , wanted]) => wanted));
});

test('a repository of too many files, or of large settings, is refused before they are read', async () => {
  const folder = await writeFiles('large', { 'config.json': `{"a": "${'x'.repeat(2 ** 22)}"}` });
  const refusals = await python(
    `from repository import *
asks = [lambda: check_names(["config.json"] * 100_000), lambda: check_settings({"0_T/config.json": 2**30}),
    lambda: check_settings({"tokenizer.json": 2**26, "vocab.txt": 2**26, "README.md": 2**24}), lambda: read_json(Path(given) / "config.json")]
for ask in asks:
    try:
        ask()
        out.append(None)
    except Refusal as error:
        out.append(error.code + ": " + error.message)`,
    folder,
  );

  expect(refusals).toEqual([
    expect.stringMatching(/^too-large: The repository has 100,000 files/),
    expect.stringMatching(/^too-large: 0_T\/config\.json has 1,073\.7 MB; at most 4\.2 MB/),
    null,
    expect.stringMatching(/^too-large: config\.json has 4\.2 MB/),
  ]);
});

test('the token goes to the address of the Hub alone, wherever a redirect leads', async () => {
  const cases: [address: string, hub: string, gets: boolean][] = [
    ['https://huggingface.co/api/models/a/b', 'https://huggingface.co', true],
    ['https://HuggingFace.co:443/a/b/resolve/main/config.json', 'https://huggingface.co/', true],
    ['https://cdn-lfs.huggingface.co/a', 'https://huggingface.co', false],
    ['https://huggingface.co.example.test/a', 'https://huggingface.co', false],
    ['http://huggingface.co/a', 'https://huggingface.co', false],
    ['https://huggingface.co:8443/a', 'https://huggingface.co', false],
    ['https://huggingface.co/a/b', 'https://hub.example.test', false],
    ['https://hub.example.test/a/b', 'http://hub.example.test', true],
    ['http://127.0.0.1:4000/a', 'http://127.0.0.1:4001', false],
    ['http://169.254.169.254/latest/meta-data', 'http://hub.example.test', false],
  ];
  const out = await python(
    `from fetch import gets_token
out = [gets_token(address, hub) for address, hub, _ in given]`,
    cases,
  );

  expect(out).toEqual(cases.map(([, , gets]) => gets));
});

test('a file that is longer than the Hub said stops growing', async () => {
  const out = await python(
    `from fetch import largest_file
path = Path(given) / "body"
try:
    with largest_file(1_000), path.open("wb", buffering=0) as file:
        for _ in range(1_000):
            file.write(b"x" * 600)
except OSError as error:
    import errno
    out.append(errno.errorcode[error.errno])
out.append(path.stat().st_size)
path.write_bytes(b"x" * 5_000)
out.append(path.stat().st_size)`,
    scratch,
  );

  expect(out).toEqual(['EFBIG', 1_000, 5_000]);
});
