import { loadRegistered, type Registered } from '../api/registered.ts';
import { useLive } from '../api/use-live.ts';
import { AliasChips } from '../models/alias-chips.tsx';
import { Listing } from '../ui/listing.tsx';
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
      <Listing
        label="Registered by MLflow"
        headings={[
          'Name',
          { name: 'Version', class: 'right' },
          'Aliases',
          { name: 'Last change', class: 'right' },
        ]}
      >
        {shown.map(({ name, aliases, latest_versions, last_updated_timestamp }) => (
          <tr key={name}>
            <th scope="row">
              <a href={href(['registry', name])}>
                <bdi>{name}</bdi>
              </a>
            </th>
            <td class="right number">
              {latest_versions.length === 0
                ? '–'
                : Math.max(...latest_versions.map(({ version }) => Number(version)))}
            </td>
            <td>
              <AliasChips aliases={aliases.map(({ alias }) => alias)} />
            </td>
            <td class="right number soft">
              <Ago time={new Date(last_updated_timestamp).toISOString()} />
            </td>
          </tr>
        ))}
      </Listing>
      {more}
    </section>
  );
};

/** Names of MLflow's registry. Nothing while there is none. */
export function NamesList() {
  const live = useLive('registered', loadRegistered, { every: () => 20_000 });
  return live.data === undefined || live.data.length === 0 ? null : <Names all={live.data} />;
}
