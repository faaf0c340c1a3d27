import { useEffect, useState } from 'preact/hooks';

/** SVG of the service as an image, which runs no scripts from its labels. */
export function Drawing({ svg, label }: { svg: string; label: string }) {
  const [url, setUrl] = useState<string>();
  useEffect(() => {
    const made = URL.createObjectURL(new Blob([svg], { type: 'image/svg+xml' }));
    setUrl(made);
    return () => URL.revokeObjectURL(made);
  }, [svg]);
  return (
    <div class="drawing" tabIndex={0} role="group" aria-label={label}>
      {url !== undefined && (
        <img
          src={url}
          alt={label}
          onLoad={({ currentTarget: { parentElement: box } }) => {
            // A graph begins at its middle, which a phone would otherwise hide.
            if (box !== null) box.scrollLeft = (box.scrollWidth - box.clientWidth) / 2;
          }}
        />
      )}
    </div>
  );
}
