/** Switch between a file as it is meant to be seen and its text. */
export const SourceSwitch = ({
  name,
  isSource,
  onSwitch,
}: {
  /** What the file is meant to be seen as, such as `Table`. */
  name: string;
  isSource: boolean;
  onSwitch: (isSource: boolean) => void;
}) => (
  <div class="segments" role="group" aria-label="Shown as">
    <button type="button" aria-pressed={!isSource} onClick={() => onSwitch(false)}>
      {name}
    </button>
    <button type="button" aria-pressed={isSource} onClick={() => onSwitch(true)}>
      Source
    </button>
  </div>
);
