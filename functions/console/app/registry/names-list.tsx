import { loadRegistered, type Registered } from '../api/registered.ts';
import { useLive } from '../api/use-live.ts';
import { AliasChips } from '../models/alias-chips.tsx';
import { href } from '../ui/router.ts';
import { useShowMore } from '../ui/show-more.tsx';
import { Ago } from '../ui/text/ago.tsx';

const Names = ({ all }: { all: readonly Registered[] }) => {
  const [shown, more] = useShowMore(all, 40, 'names');
  return (
    <section aria-labelledby="registered-names">
      <h2 id="registered-names" class="part-title">
        Registered by MLflow
      </h2>
      <ul class="cards wide">
        {shown.map(({ name, aliases, latest_versions, last_updated_timestamp }) => (
          <li key={name}>
            <a class="card link" href={href(['registry', name])}>
              <span class="card-top">
                <strong class="clamp">
                  <bdi>{name}</bdi>
                </strong>
                <span class="soft small">
                  <Ago time={new Date(last_updated_timestamp).toISOString()} />
                </span>
              </span>
              <span class="chips">
                <span class="soft small">
                  {latest_versions.length === 0
                    ? 'no version'
                    : `version ${Math.max(...latest_versions.map(({ version }) => Number(version)))}`}
                </span>
                <AliasChips aliases={aliases.map(({ alias }) => alias)} />
              </span>
            </a>
          </li>
        ))}
      </ul>
      {more}
    </section>
  );
};

/** Names of MLflow's registry. Nothing while there is none. */
export function NamesList() {
  const live = useLive('registered', loadRegistered, { every: () => 20_000 });
  return live.data === undefined || live.data.length === 0 ? null : <Names all={live.data} />;
}
