import { useEffect, useState } from 'preact/hooks';

/** A drawing of the service as a picture: nothing in it can run, whatever its labels say. */
export function Drawing({ svg, label }: { svg: string; label: string }) {
  const [url, setUrl] = useState<string>();
  useEffect(() => {
    const made = URL.createObjectURL(new Blob([svg], { type: 'image/svg+xml' }));
    setUrl(made);
    return () => URL.revokeObjectURL(made);
  }, [svg]);
  return (
    <div class="drawing" tabIndex={0} role="group" aria-label={label}>
      {url !== undefined && <img src={url} alt={label} />}
    </div>
  );
}
