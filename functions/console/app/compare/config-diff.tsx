import { useState } from 'preact/hooks';
import type { Experiment } from '../api/answers.ts';
import type { ExperimentConfig } from '../api/experiments.ts';
import { useLive } from '../api/use-live.ts';
import { Empty, Loaded } from '../ui/parts.tsx';
import { diffLines } from './diff-lines.ts';

const Diff = ({ before, after }: { before: ExperimentConfig; after: ExperimentConfig }) => {
  if (before.content === after.content)
    return <p class="soft">The configurations are equal, to the letter.</p>;
  return (
    <pre class="text diff" tabIndex={0}>
      {diffLines(before.content, after.content).map(({ sign, text }, index) => (
        <span key={index} class={sign === '-' ? 'removed' : sign === '+' ? 'added' : ''}>
          {sign} {text}
          {'\n'}
        </span>
      ))}
    </pre>
  );
};

/** What two of the experiments have different in their configurations. */
export function ConfigDiff({
  experiments,
  load,
}: {
  experiments: readonly Experiment[];
  load: (id: string) => Promise<ExperimentConfig>;
}) {
  const having = experiments.filter(({ config_id }) => config_id !== null);
  const [left, setLeft] = useState(having[0]?.experiment_id ?? '');
  const [right, setRight] = useState(having[1]?.experiment_id ?? '');
  const live = useLive(`diff/${left}/${right}`, () => Promise.all([load(left), load(right)]));
  if (having.length < 2)
    return (
      <Empty title="Fewer than two of them have a configuration" icon="file">
        <p>Experiments that a client records have params instead: they are under Differences.</p>
      </Empty>
    );
  const Choice = ({
    label,
    value,
    onChange,
  }: {
    label: string;
    value: string;
    onChange: (id: string) => void;
  }) => (
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
        <Choice label="Before" value={left} onChange={setLeft} />
        <span aria-hidden="true">→</span>
        <Choice label="After" value={right} onChange={setRight} />
      </div>
      <Loaded live={live} what="The configurations could not be loaded">
        {([before, after]) => <Diff before={before} after={after} />}
      </Loaded>
    </>
  );
}
