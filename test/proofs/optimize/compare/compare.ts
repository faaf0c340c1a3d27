// Compares the engine with ONNX Runtime's own quantizer: see run.sh, which calls it.
import { existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { availableParallelism, cpus } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { loadModel } from '../../../../shared/onnx/model/file/load-model.ts';
import { saveModel } from '../../../../shared/onnx/model/file/save-model.ts';
import { hardware } from '../../../../shared/onnx/receipt/hardware.ts';
import { bundleStage } from '../bundle-stage.ts';
import { bert } from '../shapes/bert.ts';
import { mobilenetV2 } from '../shapes/mobilenet-v2.ts';
import { resnet18 } from '../shapes/resnet18.ts';
import { missed } from './bounds.ts';
import { type Case, casesOf, isMemoryCase, type Subject, shapeNames, trainedNames } from './cases.ts';
import { type Compared, compareCase } from './compare-case.ts';
import { resultsDocument } from './results-table.ts';
import { runPython } from './run-python.ts';

const { values } = parseArgs({
  options: {
    python: { type: 'string', default: 'python3' },
    folder: { type: 'string', default: '' },
    trained: { type: 'string', default: '' },
    out: { type: 'string', default: join(import.meta.dirname, 'RESULTS.md') },
    repeats: { type: 'string', default: '5' },
    only: { type: 'string', default: '' },
  },
});

const makers = { 'mobilenet-v2': mobilenetV2, resnet18, bert } as const;

function hasMatMul(path: string): boolean {
  const { graph, external } = loadModel(path);
  external.close();
  return graph.nodes.some(
    ({ opType, input }) => opType === 'MatMul' && graph.initializer(input[1] ?? '') !== undefined,
  );
}

/** The architectures, written into the folder, and the trained models that are there. */
function subjectsIn(folder: string): Subject[] {
  const shapes = shapeNames.map((name) => {
    const own = join(folder, name);
    mkdirSync(own, { recursive: true });
    const model = join(own, 'model.onnx');
    if (!existsSync(model)) saveModel(makers[name](), own);
    return { name, model, set: null, hasMatMul: hasMatMul(model) };
  });
  const trained = trainedNames
    .map((name) => ({
      name,
      model: join(values.trained, `${name}.onnx`),
      set: join(values.trained, `${name}.npz`),
    }))
    .filter(({ model }) => existsSync(model))
    .map((subject) => ({ ...subject, hasMatMul: hasMatMul(subject.model) }));
  return [...shapes, ...trained];
}

async function compare(one: Case, program: string): Promise<Compared> {
  const { python, folder } = values;
  const { subject, samples } = one;
  const stem = join(folder, `${subject.name}-${samples}`);
  const [model, calibration, evaluation] = [
    `${stem}.onnx`,
    `${stem}-calibration.npz`,
    `${stem}-evaluation.npz`,
  ];
  const { set } = subject;
  if (!existsSync(evaluation)) {
    await runPython(python, 'prepare.py', {
      model: subject.model,
      out: model,
      set,
      calibration,
      evaluation,
      samples,
    });
  }
  const place = { python, program, folder: join(folder, 'case'), model, calibration };
  // Memory does not vary, and the reference takes minutes there.
  const repeats = isMemoryCase(one) ? 1 : Number(values.repeats);
  return await compareCase(one, place, repeats, evaluation);
}

using bundled = await bundleStage();
const results: Compared[] = [];
const wanted = values.only.split(',').filter((part) => part !== '');
for (const one of casesOf(subjectsIn(values.folder))) {
  const name = `${one.subject.name}/${one.method}/${one.samples}`;
  if (wanted.length > 0 && !wanted.some((part) => name.includes(part))) continue;
  const compared = await compare(one, bundled.program);
  results.push(compared);
  process.stderr.write(`${name}: ${missed(compared).join('; ') || 'met'}\n`);
}
const { flags } = hardware();
const place = `${cpus()[0]?.model ?? 'unknown processor'}, ${availableParallelism()} CPUs${flags.length > 0 ? ` (${flags.join(', ')})` : ''}, Node ${process.version}`;
writeFileSync(values.out, resultsDocument(results, place, Number(values.repeats)));
process.stdout.write(`${results.length} cases written to ${values.out}\n`);
