import { useState } from 'preact/hooks';
import { bytesText } from '../../../../shared/core/text/bytes-text.ts';
import type { Experiment } from '../api/answers.ts';
import type { Model } from '../api/models.ts';
import { mayChangeModel } from '../api/rights.ts';
import { PromoteDialog } from '../models/promote-dialog.tsx';
import { href } from '../router.ts';
import { AliasChips } from '../serving/alias-chips.tsx';
import { attempt, tell } from '../ui/notice.tsx';
import { Ago, Button } from '../ui/parts.tsx';
import { numberText } from '../ui/text/format.ts';
import {
  deleteAlias,
  experimentOf,
  type Registered,
  type RegisteredVersion,
  setAlias,
} from './registered.ts';

/** A name with its versions, the experiments that made them, and the ONNX models of these experiments. */
export interface NamedVersions {
  registered: Registered;
  versions: readonly RegisteredVersion[];
  sources: ReadonlyMap<string, Experiment>;
  models: readonly Model[];
}

function Source({ version, sources }: { version: RegisteredVersion; sources: NamedVersions['sources'] }) {
  const found = experimentOf(version.run_id);
  const experiment = found && sources.get(found.experiment_id);
  if (found === undefined || experiment === undefined)
    return (
      <span class="soft small">
        <bdi>{version.source}</bdi>
      </span>
    );
  return (
    <a href={href(['projects', found.project_id, 'experiments', found.experiment_id])}>
      <bdi>{experiment.name}</bdi>
    </a>
  );
}

/** Row of a version, with its aliases and the button to give it one. */
export function VersionRow({
  version,
  all: { registered, sources, models },
  onChange,
}: {
  version: RegisteredVersion;
  all: NamedVersions;
  onChange: () => Promise<void>;
}) {
  const { name, aliases } = registered;
  const [isOpen, setOpen] = useState(false);
  const mayChange = mayChangeModel(registered);
  const experiment_id = experimentOf(version.run_id)?.experiment_id;
  const best = experiment_id === undefined ? null : (sources.get(experiment_id)?.best ?? null);
  const own = models.filter(
    ({ origin }) => origin.kind === 'artifact' && origin.experiment_id === experiment_id,
  );
  const shown = `version ${version.version}`;
  const remove = (alias: string) =>
    attempt(async () => {
      await deleteAlias(name, alias);
      await onChange();
      const act = () => setAlias(name, alias, version.version).then(onChange);
      tell(`The alias ${alias} is removed`, false, { name: 'Undo', act });
    });
  return (
    <tr>
      <th scope="row">{version.version}</th>
      <td>
        <span class="chips">
          <AliasChips aliases={version.aliases} onRemove={mayChange ? remove : undefined} />
        </span>
      </td>
      <td>
        <Source version={version} sources={sources} />
      </td>
      <td class="right">
        {best !== null && (
          <>
            <span class="soft small">{best.metric}</span> {numberText(best.value)}
          </>
        )}
      </td>
      <td class="right">
        {own.map(({ model_id, model_name, bytes }) => (
          <a
            key={model_id}
            href={href(['models', model_name])}
            title={`Compressed versions of ${model_name}`}
          >
            {bytesText(bytes)}
          </a>
        ))}
      </td>
      <td class="soft small only-wide">
        <Ago time={new Date(version.creation_timestamp).toISOString()} />
      </td>
      {mayChange && (
        <td class="right">
          <Button kind="quiet" icon="tag" onClick={() => setOpen(true)}>
            Promote
          </Button>
          {isOpen && (
            <PromoteDialog
              version={shown}
              aliases={Object.fromEntries(aliases.map((one) => [one.alias, `version ${one.version}`]))}
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
