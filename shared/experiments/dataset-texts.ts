import { createHash } from 'node:crypto';
import { buffer } from 'node:stream/consumers';
import * as z from 'zod';
import type { ObjectReader, ObjectWriter } from '../aws/objects.ts';
import { inLanes } from '../core/in-lanes.ts';
import { badRequest } from '../core/service-error.ts';
import { experimentPrefix } from '../data/experiments/experiment.ts';
import type { DatasetInput } from '../data/experiments/tracking.ts';
import { payloadBytes } from '../http/answer/payload-bytes.ts';

// A client chooses the source, schema and profile of a data set. The schema of a wide table has megabytes, so long texts
// are an object of the experiment and take no room from its params.

const Texts = z.object({
  source: z.string(),
  schema: z.string().optional(),
  profile: z.string().optional(),
});
type Texts = z.infer<typeof Texts>;

/** Bytes of the texts that stay in the record of the experiment, all together. */
const inlineMaxBytes = 50_000;

/** Maximum bytes of the texts of an experiment's data sets, as an answer sends them. One answer holds all. */
export const datasetTextsMaxBytes = 3_500_000;

/**
 * Move the texts of data sets to an object of the experiment, if they are long. A repetition writes the same object.
 * @throws ServiceError `bad-request` that names the longest text, if they exceed their limit
 */
export async function moveTexts(
  objects: Pick<ObjectWriter, 'put'>,
  key: ExperimentKey,
  datasets: readonly DatasetInput[],
): Promise<DatasetInput[]> {
  const { recorded, object } = splitTexts(datasets);
  if (object !== undefined)
    await objects.put(datasetTextsObject(key, object.id), object.bytes, 'application/json');
  return recorded;
}

/** What {@link moveTexts} leaves in the record, and the object that it writes. @throws ServiceError */
export function splitTexts(datasets: readonly DatasetInput[]): {
  recorded: DatasetInput[];
  object?: { id: string; bytes: Uint8Array };
} {
  const sized = datasets.map((dataset) => ({
    one: dataset,
    bytes: dataset.texts?.bytes ?? bytesOf(dataset),
  }));
  const total = sum(sized.map(({ bytes }) => bytes));
  if (total > datasetTextsMaxBytes) throw tooLong(total, datasets);
  const inline = sized.filter(({ one }) => one.texts === undefined);
  if (sum(inline.map(({ bytes }) => bytes)) <= inlineMaxBytes) return { recorded: [...datasets] };
  const bytes = Buffer.from(JSON.stringify(inline.map(({ one }) => Texts.parse(one))));
  const id = createHash('sha256').update(bytes).digest('hex');
  let at = 0;
  const recorded = sized.map(({ one, bytes: own }) => {
    if (one.texts !== undefined) return one;
    const { schema: _, profile: __, ...rest } = one;
    const texts = { id, at, bytes: own };
    at += 1;
    return { ...rest, source: '', texts };
  });
  return { recorded, object: { id, bytes } };
}

/** Return data sets with the texts that {@link moveTexts} has moved. */
export async function readTexts(
  objects: Pick<ObjectReader, 'read'>,
  key: ExperimentKey,
  datasets: readonly DatasetInput[],
): Promise<DatasetInput[]> {
  const ids = [...new Set(datasets.flatMap(({ texts }) => texts?.id ?? []))];
  if (ids.length === 0) return [...datasets];
  const stored = new Map(
    await inLanes(ids, readsAtOnce, async (id): Promise<[string, Texts[]]> => {
      const body = await objects.read(datasetTextsObject(key, id));
      // Its experiment is being removed.
      if (body === undefined) return [id, []];
      return [id, z.array(Texts).parse(JSON.parse((await buffer(body)).toString()))];
    }),
  );
  return datasets.map(({ texts, ...rest }) =>
    texts === undefined ? rest : { ...rest, ...stored.get(texts.id)?.[texts.at] },
  );
}

interface ExperimentKey {
  project_id: string;
  experiment_id: string;
}

const readsAtOnce = 16;

/** Return the bucket key of texts. */
export const datasetTextsObject = ({ project_id, experiment_id }: ExperimentKey, id: string): string =>
  `${experimentPrefix(project_id, experiment_id)}dataset-texts/${id}`;

const names = ['source', 'schema', 'profile'] as const;

const sum = (numbers: readonly number[]): number => numbers.reduce((all, one) => all + one, 0);

/** Bytes of a text in an answer. Lambda sends an answer as JSON within JSON, so a quote takes four. */
const sentBytes = (text: string | undefined): number => payloadBytes(JSON.stringify(text ?? ''));

const bytesOf = (one: DatasetInput): number => sum(names.map((name) => sentBytes(one[name])));

function tooLong(total: number, datasets: readonly DatasetInput[]) {
  const texts = datasets.flatMap((dataset) =>
    names.map((name) => ({
      what: `the ${name} of ${JSON.stringify(dataset.name)}`,
      bytes: sentBytes(dataset[name]),
    })),
  );
  const [longest] = texts.toSorted((a, b) => b.bytes - a.bytes);
  const message = `brings sources, schemas and profiles of the run's data sets to ${total} bytes as an answer sends them; at most ${datasetTextsMaxBytes} are allowed. The longest is ${longest?.what}, with ${longest?.bytes}`;
  return badRequest([{ in: 'body', name: 'datasets', message }]);
}
