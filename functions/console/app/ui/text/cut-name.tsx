/** Last characters of a name that stay. */
const tailLength = 10;

/** Letters that are written from right to left. Two parts of such a word would stand in the wrong order. */
const rightToLeft = /[\u0590-\u08ff\ufb1d-\ufdff\ufe70-\ufefc]/;

/** Name that is cut before its last characters where there is no room: names of runs differ at their ends. */
export const CutName = ({ name, class: own = '' }: { name: string; class?: string }) => {
  const letters = [...name];
  const tail = letters.slice(-tailLength).join('');
  return letters.length <= 2 * tailLength || rightToLeft.test(name) ? (
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
