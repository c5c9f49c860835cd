<?php
// A page whose statements carry their endpoint as a comment.
$path = strtok($_SERVER['REQUEST_URI'], '?');
$tag = '/*' . $_SERVER['REQUEST_METHOD'] . ' ' . $path . '*/ ';
$db = new mysqli('localhost', getenv('USER_NAME'), getenv('PASSWORD'), '', 0, getenv('SOCKET'));
$pdo = fn() => new PDO('mysql:host=127.0.0.1;port=' . getenv('PORT'), getenv('USER_NAME'), getenv('PASSWORD'), [PDO::ATTR_EMULATE_PREPARES => false]);
switch ($path) {
case '/one':
    $db->query($tag . 'SELECT 1 + 1');
    break;
case '/posts':
    $db->query($tag . 'SELECT 20 AS posts')->fetch_all();
    for ($i = 0; $i < 20; $i++) {
        $db->query($tag . "SELECT 'user', $i")->fetch_all();
    }
    break;
case '/prepared':
    $st = $pdo()->prepare($tag . "SELECT 'prepared', ?");
    for ($i = 0; $i < 3; $i++) {
        $st->execute([$i]);
        $st->fetchAll();
    }
    break;
case '/start':
    exec('true; /bin/true'); // by a shell
    break;
case '/late':
    echo str_repeat('x', 100000);
    flush();
    $db->query($tag . "SELECT 'after the answer began'");
    break;
}
echo "ok\n";
