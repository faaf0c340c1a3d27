import { useShowMore } from '../../ui/show-more.tsx';
import type { Axis } from '../values/axis.ts';

/** Choice of the axes that are drawn. */
export function AxisChoice({
  all,
  drawn,
  onChange,
}: {
  all: readonly Axis[];
  drawn: readonly Axis[];
  onChange(names: ReadonlySet<string>): void;
}) {
  const [offered, more] = useShowMore(all, 40, 'axes');
  const names = new Set(drawn.map(({ name }) => name));
  return (
    <div class="chips axes">
      {offered.map(({ name }) => (
        <label key={name} class="check">
          <input
            type="checkbox"
            checked={names.has(name)}
            onChange={({ currentTarget }) => {
              const next = new Set(names);
              if (currentTarget.checked) next.add(name);
              else next.delete(name);
              onChange(next);
            }}
          />
          <bdi>{name}</bdi>
        </label>
      ))}
      {drawn.length < all.length && (
        <span class="soft small">
          {drawn.length} of {all.length} axes are drawn. {more}
        </span>
      )}
    </div>
  );
}
