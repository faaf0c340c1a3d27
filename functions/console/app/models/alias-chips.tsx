import { Icon } from '../ui/icon.tsx';

/** Aliases of a version as chips. `onRemove` adds a button to each. */
export const AliasChips = ({
  aliases,
  onRemove,
}: {
  aliases: readonly string[];
  onRemove?: ((alias: string) => unknown) | undefined;
}) => (
  <>
    {aliases.map((alias) => (
      <span key={alias} class="chip alias">
        <bdi>{alias}</bdi>
        {onRemove && (
          <button
            type="button"
            aria-label={`Remove the alias ${alias}`}
            title={`Remove the alias ${alias}`}
            onClick={() => void onRemove(alias)}
          >
            <Icon name="close" size={11} />
          </button>
        )}
      </span>
    ))}
  </>
);
