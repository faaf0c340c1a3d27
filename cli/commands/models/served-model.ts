import { ProblemError } from '../../../shared/client/problem-error.ts';
import { UnreachableError } from '../../../shared/client/unreachable-error.ts';
import { elementsOf, isDatatype, unpackBytes } from '../../../shared/serving/protocol/datatypes.ts';
import type { Session } from '../../login/connect.ts';

/** A served model, or a version of it, behind the Open Inference Protocol. */
export class ServedModel {
  readonly name: string;
  private readonly session: Session;
  private readonly address: string;
  private described: Promise<Description> | undefined;

  constructor(session: Session, name: string, version: string | undefined) {
    this.session = session;
    this.name = name;
    const chosen = version === undefined ? '' : `/versions/${encodeURIComponent(version)}`;
    this.address = `${session.client.url}/v2/models/${encodeURIComponent(name)}${chosen}`;
  }

  /** Return how the model describes itself: asked once. */
  describe(): Promise<Description> {
    this.described ??= this.send('', {}).then(async (response) => ({
      inputs: [],
      ...parsed(Buffer.from(await response.arrayBuffer())),
    }));
    return this.described;
  }

  async infer(tensors: readonly SentTensor[], classes: number | undefined): Promise<Output[]> {
    const head = Buffer.from(
      JSON.stringify({
        inputs: tensors.map(({ described }) => described),
        parameters: { binary_data_output: true, ...(classes !== undefined && { classification: classes }) },
      }),
    );
    const response = await this.send('/infer', {
      method: 'POST',
      headers: {
        'Content-Type': 'application/octet-stream',
        'Inference-Header-Content-Length': String(head.length),
      },
      body: Buffer.concat([head, ...tensors.map(({ bytes }) => bytes)]),
    });
    const body = Buffer.from(await response.arrayBuffer());
    const length = Number(response.headers.get('inference-header-content-length') ?? body.length);
    let at = length;
    const { outputs = [] } = parsed(body.subarray(0, length));
    return outputs.map(({ name, datatype, shape, parameters }) => {
      const bytes = body.subarray(at, at + parameters.binary_data_size);
      at += bytes.length;
      return { name, datatype, shape, data: valuesOf(datatype, bytes) };
    });
  }

  /** Ask with texts or pictures instead of tensors. */
  async inferPlainly(request: object): Promise<PlainAnswer> {
    const response = await this.send('/infer', {
      method: 'POST',
      headers: { 'Content-Type': 'application/json' },
      body: JSON.stringify(request),
    });
    return JSON.parse(await response.text());
  }

  /** @throws ProblemError with the message of the protocol's error */
  private async send(path: string, init: RequestInit): Promise<Response> {
    const { client, token } = this.session;
    const headers = { ...init.headers, Authorization: `Bearer ${token}` };
    const response = await fetch(`${this.address}${path}`, { ...init, headers }).catch((cause: unknown) => {
      throw new UnreachableError(client.url, cause);
    });
    if (response.ok) return response;
    const { error = '' } = parsed(Buffer.from(await response.arrayBuffer()));
    throw new ProblemError(response.status, { detail: error }, `HTTP status ${response.status}`);
  }
}

export interface Description {
  inputs: { name: string; datatype: string; shape: number[] }[];
  parameters?: { images?: object | null };
}

export interface SentTensor {
  described: {
    name: string;
    datatype: string;
    shape: readonly number[];
    /** Values of a picture or of JSON; those of an npz file follow the header as bytes. */
    data?: readonly (number | string | boolean)[] | undefined;
    parameters?: object;
  };
  bytes: Uint8Array;
}

/** An output of an answer with its values. */
export interface Output {
  name: string;
  datatype: string;
  shape: number[];
  data: unknown[];
}

/** Answer to texts or pictures: the service wrote it. */
export interface PlainAnswer {
  embeddings?: number[][];
  labels?: { label: string; score: number }[];
  scores?: number[];
  tokens?: { token: string; label: string; score: number }[][];
  cut?: number[];
}

/** JSON of an answer: the service wrote it. */
interface Answer extends Partial<Description> {
  error?: string;
  outputs?: { name: string; datatype: string; shape: number[]; parameters: { binary_data_size: number } }[];
}

function parsed(bytes: Buffer): Answer {
  try {
    return JSON.parse(bytes.toString('utf8'));
  } catch {
    return {};
  }
}

function valuesOf(datatype: string, bytes: Uint8Array): unknown[] {
  if (datatype === 'BYTES') return (unpackBytes(bytes) ?? []).map((one) => Buffer.from(one).toString('utf8'));
  if (!isDatatype(datatype)) return [];
  const values = Array.from<number | bigint>(elementsOf({ datatype, bytes }));
  if (datatype === 'BOOL') return values.map((value) => value !== 0);
  // JSON has no integers of 64 bits.
  return values.map((value) =>
    typeof value === 'bigint' && !Number.isSafeInteger(Number(value)) ? String(value) : Number(value),
  );
}
