export { Rows } from './Rows';
export { default as rows } from './Rows.module.css';
