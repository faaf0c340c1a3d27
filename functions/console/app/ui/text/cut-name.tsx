/** Last characters of a name that stay. */
const tailLength = 10;

/** Name that is cut before its last characters where there is no room: names of runs differ at their ends. */
export const CutName = ({ name, class: own = '' }: { name: string; class?: string }) => {
  const letters = [...name];
  const tail = letters.slice(-tailLength).join('');
  return letters.length <= 2 * tailLength ? (
    <bdi class={`ellipsis ${own}`} title={name}>
      {name}
    </bdi>
  ) : (
    <bdi class={`cut-name ${own}`} title={name}>
      <span>{letters.slice(0, -tailLength).join('')}</span>
      <span>{tail}</span>
    </bdi>
  );
};
