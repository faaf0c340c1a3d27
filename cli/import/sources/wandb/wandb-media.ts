/**
 * Return a function that names the media files of one run by their key and step, as the console groups them:
 * `media/images/loss_12_<digest>.png` becomes `media/images/loss_step_12.png`. Several of one step are numbered.
 */
export function mediaPath(): (path: string) => string {
  const counts = new Map<string, number>();
  return (path) => {
    const [, key, step, ending] = /^(media\/.+)_(\d+)_[0-9a-f]{20}((?:\.\w+)+)$/.exec(path) ?? [];
    if (key === undefined || step === undefined || ending === undefined) return path;
    const plain = `${key}_step_${step}${ending}`;
    const count = counts.get(plain) ?? 0;
    counts.set(plain, count + 1);
    return count === 0 ? plain : `${key}.${count}_step_${step}${ending}`;
  };
}
