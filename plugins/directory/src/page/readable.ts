import styles from './readable.module.css';

/** The class of popovers with quiet text: keeps it readable in the dark. */
export const readable = styles.readable;
