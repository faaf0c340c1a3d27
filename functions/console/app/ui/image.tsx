import { useState } from 'preact/hooks';

interface Props {
  src: string;
  alt: string;
  class?: string;
  /** Name of the file, if it may be another one than the page says. */
  path?: string;
}

/** A picture of a user's file. Words stand in the place of one that the browser cannot draw. */
export function Image({ src, alt, path, class: classes = '' }: Props) {
  const [broken, setBroken] = useState<string>();
  if (broken === src) return <span class="soft small">Damaged, or not a picture</span>;
  return (
    <img
      src={src}
      alt={alt}
      class={classes}
      decoding="sync"
      data-path={path}
      onError={() => setBroken(src)}
    />
  );
}
