/** Sends files one after another, and keeps what became of them. */
import { useCallback, useReducer, useRef } from "react";
import { isAbort, problemOf } from "../api";
import { newName } from "../names";
import { upload, type Metadata } from "../upload";
import { reduce, type Upload } from "./uploads";

export interface Uploads {
  list: Upload[];
  add: (files: readonly File[], metadata: Metadata) => void;
  cancel: (key: string) => void;
  clear: () => void;
}

export function useUploads(onDone: () => void): Uploads {
  const [list, dispatch] = useReducer(reduce, [] as Upload[]);
  const stops = useRef(new Map<string, AbortController>());
  const queue = useRef(Promise.resolve());

  const add = useCallback(
    (files: readonly File[], metadata: Metadata) => {
      for (const file of files) {
        const key = newName();
        const stop = new AbortController();
        stops.current.set(key, stop);
        dispatch({ type: "added", key, name: file.name, size: file.size });
        const send = async (): Promise<void> => {
          try {
            stop.signal.throwIfAborted();
            const result = await upload(file, metadata, stop.signal, {
              sent: (share) => {
                dispatch({ type: "sent", key, share });
              },
              progress: (progress) => {
                dispatch({ type: "progress", key, progress });
              },
            });
            dispatch({ type: "done", key, result });
            onDone();
          } catch (error) {
            if (isAbort(error)) dispatch({ type: "cancelled", key });
            else dispatch({ type: "failed", key, problem: problemOf(error) });
          } finally {
            stops.current.delete(key);
          }
        };
        queue.current = queue.current.then(send);
      }
    },
    [onDone],
  );
  const cancel = useCallback((key: string) => {
    stops.current.get(key)?.abort();
  }, []);
  const clear = useCallback(() => {
    dispatch({ type: "cleared" });
  }, []);
  return { list, add, cancel, clear };
}
