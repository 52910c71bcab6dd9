import { useEffect, useState } from 'react';
import type { ReadRequest } from '../key/readRequest';

/** What became of a text that shall be a request. */
export type RequestReading =
  | { state: 'empty' | 'reading' | 'unreadable' | 'privateKey' }
  | { state: 'read'; request: ReadRequest };

/** Reads a request while it is being typed, pasted or dropped. */
export function useReadRequest(text: string): RequestReading {
  const [reading, setReading] = useState<RequestReading>({ state: 'empty' });

  useEffect(() => {
    let isCurrent = true;
    const settle = (next: RequestReading) => isCurrent && setReading(next);
    if (!text.trim()) {
      settle({ state: 'empty' });
    } else if (/PRIVATE KEY-----/.test(text)) {
      settle({ state: 'privateKey' });
    } else {
      settle({ state: 'reading' });
      import('../key/readRequest')
        .then(({ readRequest }) => readRequest(text))
        .then(
          request => settle({ state: 'read', request }),
          () => settle({ state: 'unreadable' }),
        );
    }
    return () => {
      isCurrent = false;
    };
  }, [text]);

  return reading;
}
