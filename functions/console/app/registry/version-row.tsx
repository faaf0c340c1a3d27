import { useState } from 'preact/hooks';
import { bytesText } from '../../../../shared/core/text/bytes-text.ts';
import type { Experiment } from '../api/answers.ts';
import type { Model } from '../api/models.ts';
import {
  deleteAlias,
  experimentOf,
  type Registered,
  type RegisteredVersion,
  setAlias,
} from '../api/registered.ts';
import { mayChangeModel } from '../api/rights.ts';
import { AliasChips } from '../models/alias-chips.tsx';
import { PromoteDialog } from '../models/promote-dialog.tsx';
import { Button } from '../ui/controls/button.tsx';
import { href } from '../ui/router.ts';
import { attempt, tell } from '../ui/states/notice.tsx';
import { Ago } from '../ui/text/ago.tsx';
import { CutName } from '../ui/text/cut-name.tsx';
import { numberText } from '../ui/text/format.ts';
import { pointPad } from '../ui/text/point-pad.ts';
import { useNarrow } from '../ui/use-narrow.ts';

/** A name with its versions, the experiments that made them, and the ONNX models of these experiments. */
export interface NamedVersions {
  registered: Registered;
  versions: readonly RegisteredVersion[];
  sources: ReadonlyMap<string, Experiment>;
  models: readonly Model[];
}

/** Return the experiment that made a version; undefined if it is unknown or not there any more. */
export function sourceOf(
  { run_id }: RegisteredVersion,
  sources: NamedVersions['sources'],
): Experiment | undefined {
  const found = experimentOf(run_id);
  return found && sources.get(found.experiment_id);
}

/** Return the ONNX models that were taken from the artifacts of a version's experiment. */
export const modelsOf = (version: RegisteredVersion, { sources, models }: NamedVersions): Model[] => {
  const experiment_id = sourceOf(version, sources)?.experiment_id;
  return models.filter(({ origin }) => origin.kind === 'artifact' && origin.experiment_id === experiment_id);
};

function Source({ version, sources }: { version: RegisteredVersion; sources: NamedVersions['sources'] }) {
  const experiment = sourceOf(version, sources);
  if (experiment === undefined)
    return (
      <span class="soft small">
        <bdi>{version.source}</bdi>
      </span>
    );
  return (
    <a href={href(['projects', experiment.project_id, 'experiments', experiment.experiment_id])}>
      <CutName name={experiment.name} />
    </a>
  );
}

/** Row of a version, with its aliases and the button to give it one. */
export function VersionRow({
  version,
  all,
  metric,
  decimals,
  hasBests,
  hasSizes,
  onChange,
}: {
  version: RegisteredVersion;
  all: NamedVersions;
  /** Metric of all best values; undefined if they differ in it. */
  metric: string | undefined;
  /** Most decimal places of a best value. */
  decimals: number;
  /** Whether the table has a column for best values. */
  hasBests: boolean;
  /** Whether the table has a column for sizes. */
  hasSizes: boolean;
  onChange: () => Promise<void>;
}) {
  const { registered, sources } = all;
  const { name, aliases } = registered;
  const [isOpen, setOpen] = useState(false);
  const mayChange = mayChangeModel(registered);
  const best = sourceOf(version, sources)?.best ?? null;
  const shown = `version ${version.version}`;
  const remove = (alias: string) =>
    attempt(async () => {
      await deleteAlias(name, alias);
      await onChange();
      const act = () => setAlias(name, alias, version.version).then(onChange);
      tell(`The alias ${alias} is removed`, false, { name: 'Undo', act });
    });
  const isNarrow = useNarrow();
  const chips = (
    <span class="chips">
      <AliasChips aliases={version.aliases} onRemove={mayChange ? remove : undefined} />
    </span>
  );
  return (
    <tr>
      <th scope="row">{version.version}</th>
      {!isNarrow && <td>{chips}</td>}
      <td>
        <Source version={version} sources={sources} />
        {isNarrow && chips}
      </td>
      {hasBests && (
        <td class="right">
          {best !== null && (
            <>
              {metric === undefined && <span class="soft small">{best.metric}</span>}{' '}
              <span data-pad={pointPad(numberText(best.value), decimals)}>{numberText(best.value)}</span>
            </>
          )}
        </td>
      )}
      {hasSizes && (
        <td class="right only-wide">
          {modelsOf(version, all).map(({ model_id, model_name, bytes }) => (
            <a
              key={model_id}
              href={href(['models', model_name])}
              title={`Compressed versions of ${model_name}`}
            >
              {bytesText(bytes)}
            </a>
          ))}
        </td>
      )}
      <td class="soft small only-wide">
        <Ago time={new Date(version.creation_timestamp).toISOString()} />
      </td>
      {mayChange && (
        <td class="right">
          <Button kind="quiet" icon="tag" label={`Promote ${shown}`} onClick={() => setOpen(true)}>
            <span class="only-wide">Promote</span>
          </Button>
          {isOpen && (
            <PromoteDialog
              version={shown}
              aliases={Object.fromEntries(aliases.map((alias) => [alias.alias, `version ${alias.version}`]))}
              effect={(alias) => (
                <>
                  MLflow’s clients load it as{' '}
                  <code>
                    models:/{name}@{alias}
                  </code>
                </>
              )}
              onPromote={async (alias) => {
                const previous = aliases.find((one) => one.alias === alias)?.version;
                await setAlias(name, alias, version.version);
                await onChange();
                return () =>
                  (previous === undefined ? deleteAlias(name, alias) : setAlias(name, alias, previous)).then(
                    onChange,
                  );
              }}
              onClose={() => setOpen(false)}
            />
          )}
        </td>
      )}
    </tr>
  );
}
