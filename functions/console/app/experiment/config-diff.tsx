import { useState } from 'preact/hooks';
import type { Comparison } from '../api/projects.ts';
import { useLive } from '../api/use-live.ts';
import type { Row } from '../runs/row.ts';
import { Empty } from '../ui/states/empty.tsx';
import { Loaded } from '../ui/states/loaded.tsx';

type Files = Comparison['files'][number];

const classes: Readonly<Record<string, string>> = { '-': 'removed', '+': 'added', '@': 'place' };

/** A unified diff without its two header lines. */
const Diff = ({ title, text }: { title: string; text: string | null }) => {
  if (text === null) return null;
  const lines = text.replace(/\n$/, '').split('\n');
  return (
    <section>
      <h2>{title}</h2>
      <pre class="text diff" tabIndex={0}>
        {lines.slice(lines.findIndex((line) => line.startsWith('@@'))).map((line, index) => (
          <span key={index} class={classes[line.charAt(0)] ?? ''}>
            {line}
            {'\n'}
          </span>
        ))}
      </pre>
    </section>
  );
};

const fileKinds = ['changed', 'added', 'removed'] as const;

/** Names of the files that differ between two programs. */
const ChangedFiles = ({ files }: { files: NonNullable<Files['changed_files']> }) => (
  <section>
    <h2>Program</h2>
    <pre class="text diff" tabIndex={0}>
      {fileKinds.flatMap((kind) =>
        files[kind].map((name) => (
          <span key={`${kind} ${name}`} class={kind}>
            {kind.padEnd(8)}
            <bdi>{name}</bdi>
            {'\n'}
          </span>
        )),
      )}
    </pre>
    {files.more > 0 && <p class="soft">And {files.more} more.</p>}
  </section>
);

const Diffs = ({ files }: { files: Files | undefined }) => {
  if (files === undefined) return <p class="soft">Choose two different experiments.</p>;
  const { config, dependencies, lock, same_source, changed_files, omitted } = files;
  return (
    <>
      {config === null && !omitted && <p class="soft">The configurations are identical.</p>}
      <Diff title="Configuration" text={config} />
      <Diff title="Dependencies" text={dependencies} />
      <Diff title="Installed packages" text={lock} />
      {omitted && <p class="soft">The differences are too long to show here.</p>}
      {changed_files === null ? (
        <p class="soft">{same_source ? 'Both ran the same program.' : 'They ran different programs.'}</p>
      ) : (
        <ChangedFiles files={changed_files} />
      )}
    </>
  );
};

/** Differences between the configurations, dependencies and programs of two experiments. */
export function ConfigDiff({
  experiments,
  load,
}: {
  experiments: readonly Row[];
  load: (before: string, after: string) => Promise<Files | undefined>;
}) {
  // From the older one to the newer one, as a change is read.
  const having = experiments
    .filter(({ config_id }) => config_id !== null)
    .sort((a, b) => (a.created_at < b.created_at ? -1 : 1));
  const [left, setLeft] = useState(having[0]?.experiment_id ?? '');
  const [right, setRight] = useState(having[1]?.experiment_id ?? '');
  const isAsked = having.length >= 2 && left !== right;
  const live = useLive(`diff/${left}/${right}`, async () => ({
    files: isAsked ? await load(left, right) : undefined,
  }));
  if (having.length < 2)
    return (
      <Empty title="Fewer than two of the experiments have a configuration" icon="file">
        <p>Experiments recorded by a client have params instead. See Differences.</p>
      </Empty>
    );
  const choice = (label: string, value: string, onChange: (id: string) => void) => (
    <select aria-label={label} value={value} onChange={({ currentTarget }) => onChange(currentTarget.value)}>
      {having.map(({ experiment_id, name }) => (
        <option key={experiment_id} value={experiment_id}>
          {name}
        </option>
      ))}
    </select>
  );
  return (
    <>
      <div class="bar-row choices">
        {choice('Before', left, setLeft)}
        <span aria-hidden="true">→</span>
        {choice('After', right, setRight)}
      </div>
      <Loaded live={live} what="The configurations could not be loaded">
        {({ files }) => <Diffs files={files} />}
      </Loaded>
    </>
  );
}
