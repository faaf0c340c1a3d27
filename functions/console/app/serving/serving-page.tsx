import { useEffect, useRef, useState } from 'preact/hooks';
import { bytesText } from '../../../../shared/core/text/bytes-text.ts';
import { loadCompression, loadModel } from '../api/models.ts';
import { mayChangeModel } from '../api/rights.ts';
import {
  addressOf,
  answerWith,
  infer,
  loadMetadata,
  type ServedMetadata,
  type Serving,
  turnOff,
  turnOn,
} from '../api/serving.ts';
import { useLive } from '../api/use-live.ts';
import { findServing } from '../models/aliases.ts';
import { ReceiptView } from '../models/receipt.tsx';
import { Button } from '../ui/controls/button.tsx';
import { Command } from '../ui/controls/copy.tsx';
import { Field } from '../ui/controls/field.tsx';
import { forgetEdits } from '../ui/edits.ts';
import { Headings } from '../ui/listing.tsx';
import { PageHead } from '../ui/page-head.tsx';
import { href } from '../ui/router.ts';
import { Empty } from '../ui/states/empty.tsx';
import { Loaded } from '../ui/states/loaded.tsx';
import { attempt } from '../ui/states/notice.tsx';
import { Problem } from '../ui/states/problem.tsx';
import { latencyText } from '../ui/text/format.ts';
import { jsonText } from '../ui/text/json-text.ts';
import {
  compressionOf,
  exampleRequest,
  imageRequest,
  pictureInput,
  readPicture,
  type ServedCompression,
} from './served-model.ts';
import { snippets, tokenCommand } from './snippets.ts';

/** A model as it is served: try it, call it, its versions with their figures. */
export function ServingPage({ model_name }: { model_name: string }) {
  const model = useLive(`model ${model_name}`, () => loadModel(model_name), { isKept: true });
  const served = useLive(`serving ${model_name}`, async () => {
    const serving = await findServing(model_name);
    return { serving, metadata: serving && (await loadMetadata(model_name)) };
  });
  const mayChange = model.data !== undefined && mayChangeModel(model.data);
  const change = (act: (name: string) => Promise<unknown>, done: string) =>
    attempt(async () => {
      await act(model_name);
      await served.refresh();
    }, done);
  const models = { name: 'Models', href: href(['models']) };
  // What is served can be asked without a right to its model.
  if (served.data?.serving === undefined && model.data === undefined && model.error !== undefined)
    return (
      <Loaded live={model} page={{ what: 'model', trail: [models] }}>
        {() => null}
      </Loaded>
    );
  const trail = [models, { name: model_name, href: href(['models', model_name]) }];
  const isServed = served.data?.serving !== undefined;
  return (
    <>
      <PageHead trail={trail} title="Serving">
        {mayChange && isServed && (
          <Button kind="danger" onClick={() => change(turnOff, 'Served no longer')}>
            Turn off
          </Button>
        )}
      </PageHead>
      <Loaded live={served} what="The serving could not be loaded">
        {({ serving, metadata }) =>
          serving === undefined || metadata === undefined ? (
            <Empty title="This model is not served" icon="cube">
              <p class="soft">
                It would answer at <code>{addressOf(model_name)}</code>, and cost nothing while nobody asks.
              </p>
              {mayChange && (
                <Button kind="primary" onClick={() => change(turnOn, 'Served from now on')}>
                  Serve it
                </Button>
              )}
            </Empty>
          ) : (
            <>
              <Versions
                serving={serving}
                metadata={metadata}
                onAnswer={
                  mayChange
                    ? (version) => change((name) => answerWith(name, version), `${version} answers`)
                    : undefined
                }
              />
              <TryIt model_name={model_name} metadata={metadata} onAnswer={served.refresh} />
              <ServedReceipt metadata={metadata} />
              <CallIt model_name={model_name} metadata={metadata} />
            </>
          )
        }
      </Loaded>
    </>
  );
}

/** Code that asks the model, of one client at a time. */
function CallIt({ model_name, metadata }: { model_name: string; metadata: ServedMetadata }) {
  const code = snippets(model_name, metadata);
  const clients = Object.keys(code);
  const [client = '', setClient] = useState(clients[0]);
  return (
    <section class="panel call-it">
      <div class="panel-head">
        <h2>Call it</h2>
        <div class="segments" role="group" aria-label="Client">
          {clients.map((name) => (
            <button key={name} type="button" aria-pressed={name === client} onClick={() => setClient(name)}>
              {name}
            </button>
          ))}
        </div>
      </div>
      <Command>{tokenCommand(model_name)}</Command>
      <Command key={client}>{code[client] ?? ''}</Command>
    </section>
  );
}

const milliseconds = (value: number | null): string => (value === null ? '–' : latencyText(value));

/** Who may ask a served model. */
const accessNames = {
  viewer: 'everybody who may see models',
  members: 'the members of its project',
  anyone: 'anyone',
} as const;

function Versions({
  serving,
  metadata,
  onAnswer,
}: {
  serving: Serving;
  metadata: ServedMetadata;
  onAnswer: ((version: string) => unknown) | undefined;
}) {
  const { model_name, versions, aliases, access, concurrency, estimate, month, default_version } = serving;
  const answering = metadata.parameters.version;
  return (
    <section class="panel">
      <h2>Versions</h2>
      <p class="small panel-about">
        <code>{addressOf(model_name)}</code> answers with <code>{default_version}</code>
        {default_version !== answering && (
          <>
            {' '}
            (<code>{answering}</code>)
          </>
        )}
        , open to {accessNames[access]}.{concurrency !== null && ` ${concurrency}`}
      </p>
      <div class="scroll-x">
        <table class="data">
          <Headings
            of={[
              'Version',
              { name: 'Size', class: 'right only-wide' },
              { name: 'Requests', class: 'right' },
              { name: 'Errors', class: 'right' },
              { name: 'p50', class: 'right only-wide' },
              { name: 'p95', class: 'right only-wide' },
              { name: 'Cold starts', class: 'right only-wide' },
              'State',
            ]}
          />
          <tbody>
            {versions.map(({ version, bytes, withdrawn, counters }) => (
              <tr key={version}>
                <td>
                  {version === 'original' ? (
                    version
                  ) : (
                    <a class="mono" href={href(['models', model_name], { strategy: version })}>
                      {version}
                    </a>
                  )}
                </td>
                <td class="right only-wide">{bytesText(bytes)}</td>
                <td class="right">{counters.requests.toLocaleString('en')}</td>
                <td class="right">{counters.errors.toLocaleString('en')}</td>
                <td class="right only-wide">{milliseconds(counters.p50_ms)}</td>
                <td class="right only-wide">{milliseconds(counters.p95_ms)}</td>
                <td class="right only-wide">{counters.cold_starts.toLocaleString('en')}</td>
                <td>
                  {withdrawn ?? (version === answering ? 'answers' : 'ready')}{' '}
                  {onAnswer !== undefined && withdrawn === null && version !== answering && (
                    <button type="button" class="as-link" onClick={() => onAnswer(version)}>
                      let it answer
                    </button>
                  )}
                </td>
              </tr>
            ))}
          </tbody>
        </table>
      </div>
      {Object.entries(aliases).map(([alias, version]) => (
        <p key={alias} class="soft small after">
          Alias <code>{alias}</code>: {version}
        </p>
      ))}
      <p class="soft small after">Requests, errors, times and cold starts are those of {month}.</p>
      <p class="soft small">
        {estimate.month === null
          ? 'US$ 0 a month at the present rate: free on this machine.'
          : `US$ ${estimate.month} a month at the present rate; nothing while nobody asks.`}
      </p>
    </section>
  );
}

/** Receipt of the compression whose result answers. */
function ServedReceipt({ metadata }: { metadata: ServedMetadata }) {
  const compression = compressionOf(metadata);
  return compression && <ReceiptPanel key={compression.strategy_id} compression={compression} />;
}

function ReceiptPanel({ compression }: { compression: ServedCompression }) {
  const details = useLive(`receipt ${compression.strategy_id}`, () => loadCompression(compression));
  return (
    <section class="panel">
      <h2>Receipt</h2>
      <Loaded live={details} what="The receipt could not be loaded">
        {({ receipt }) =>
          receipt === null ? <p class="soft">It has no receipt.</p> : <ReceiptView receipt={receipt} />
        }
      </Loaded>
    </section>
  );
}

function TryIt({
  model_name,
  metadata,
  onAnswer,
}: {
  model_name: string;
  metadata: ServedMetadata;
  onAnswer: () => Promise<void>;
}) {
  const [body, setBody] = useState('');
  const box = useRef<HTMLElement>(null);
  const [answer, setAnswer] = useState<string>();
  const [error, setError] = useState<unknown>();
  useEffect(() => setBody(JSON.stringify(exampleRequest(metadata))), [model_name]);
  const picture = pictureInput(metadata);
  const takesFiles = metadata.parameters.images != null;
  const run = async () => {
    setError(undefined);
    try {
      setAnswer(jsonText(await infer(model_name, body)));
      if (box.current !== null) forgetEdits(box.current);
    } catch (failure) {
      setAnswer(undefined);
      setError(failure);
    }
    await onAnswer();
  };
  const take = (file: File | undefined) =>
    attempt(async () => {
      if (file !== undefined && takesFiles) return setBody(JSON.stringify(await imageRequest(file)));
      if (file === undefined || picture === undefined) return;
      const sent = await readPicture(file, picture);
      const { inputs }: { inputs: { name: string }[] } = JSON.parse(JSON.stringify(exampleRequest(metadata)));
      setBody(
        JSON.stringify({
          inputs: inputs.map((input) => (input.name === picture.name ? { ...input, ...sent } : input)),
        }),
      );
    });
  return (
    <section class="panel" ref={box}>
      <h2>Try it</h2>
      <div class="form wide try-it">
        {(takesFiles || picture !== undefined) && (
          <Field
            label={takesFiles ? 'A picture' : `A picture for ${picture?.name}`}
            hint={
              takesFiles ? 'PNG or JPEG; the model prepares it.' : 'It is scaled to the size of the input.'
            }
          >
            {(attributes) => (
              <input
                {...attributes}
                type="file"
                accept={takesFiles ? 'image/png,image/jpeg' : 'image/*'}
                onChange={(event) => take(event.currentTarget.files?.[0])}
              />
            )}
          </Field>
        )}
        <Field label="Request">
          {(attributes) => (
            <textarea
              {...attributes}
              class="mono"
              rows={6}
              value={body}
              spellcheck={false}
              onInput={(event) => setBody(event.currentTarget.value)}
            />
          )}
        </Field>
        <Button kind="primary" icon="play" onClick={run}>
          Run
        </Button>
        {error !== undefined && <Problem error={error} what="The model did not answer" />}
        {answer !== undefined && (
          <pre class="text answer" tabIndex={0}>
            {answer.slice(0, 20_000)}
          </pre>
        )}
      </div>
    </section>
  );
}
