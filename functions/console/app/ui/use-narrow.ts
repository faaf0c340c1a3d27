import { useEffect, useState } from 'preact/hooks';

const phone = matchMedia('(max-width: 500px)');

/** Return whether the page is as narrow as a phone held upright. Update after a rotation. */
export function useNarrow(): boolean {
  const [isNarrow, setNarrow] = useState(phone.matches);
  useEffect(() => {
    const look = () => setNarrow(phone.matches);
    phone.addEventListener('change', look);
    return () => phone.removeEventListener('change', look);
  }, []);
  return isNarrow;
}
