import { useMemo } from 'preact/hooks';
import { joinIds, type Names } from '../../runs/columns.ts';

/** Most columns that rows are grouped by. */
export const maxGroupedBy = 4;

/** Menus of the columns to group by. Each choice shows a menu for one more. */
export const GroupChoice = ({
  ids,
  names,
  onChange,
}: {
  /** IDs of the chosen columns. */
  ids: readonly string[];
  names: Pick<Names, 'params' | 'tags'>;
  /** Called with the IDs, as in the address. */
  onChange: (ids: string) => void;
}) => {
  // Runs may have hundreds of params, and each key of the filter draws the tools anew.
  const options = useMemo(() => {
    const all = optionsOf(names);
    return [...ids, ''].slice(0, maxGroupedBy).map((id, at) =>
      all
        .filter((option) => option.id === id || !ids.includes(option.id))
        .map((option) => (
          <option key={option.id} value={option.id}>
            {at === 0 ? 'Group by' : 'Then by'} {option.name}
          </option>
        )),
    );
  }, [ids, names]);
  return (
    <>
      {[...ids, ''].slice(0, maxGroupedBy).map((id, at) => (
        <label key={at} class="group-by">
          <span class="hidden">{at === 0 ? 'Group by' : 'Then by'}</span>
          <select
            value={id}
            onChange={({ currentTarget: { value } }) =>
              onChange(joinIds([...ids.slice(0, at), value, ...ids.slice(at + 1)].filter(Boolean)))
            }
          >
            <option value="">{at === 0 ? 'No groups' : id === '' ? 'Then by…' : 'Not by it'}</option>
            {options[at]}
          </select>
        </label>
      ))}
    </>
  );
};

/** A param and a tag of one name keep what they are in their option. */
function optionsOf({ tags, params }: Pick<Names, 'params' | 'tags'>): { id: string; name: string }[] {
  const groupable = [...tags.map((name) => `tags.${name}`), ...params.map((name) => `params.${name}`)];
  const shortOf = (id: string) => id.replace(/^(?:params|tags)\./, '');
  const fixed = [
    { id: 'config', name: 'configuration' },
    { id: 'status', name: 'status' },
    { id: 'user', name: 'user' },
  ];
  const counts = new Map(fixed.map(({ name }) => [name, 1]));
  for (const id of groupable) counts.set(shortOf(id), (counts.get(shortOf(id)) ?? 0) + 1);
  return [
    ...fixed,
    ...groupable.map((id) => ({ id, name: counts.get(shortOf(id)) === 1 ? shortOf(id) : id })),
  ];
}
