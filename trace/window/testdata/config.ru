# An application whose statements carry their endpoint as a comment.
require 'mysql2'

CONNECT = lambda do
  Mysql2::Client.new(host: '127.0.0.1', port: ENV['PORT'].to_i, username: ENV['USER_NAME'], password: ENV['PASSWORD'])
end

def query(sql)
  Thread.current[:db] ||= CONNECT.call
  Thread.current[:db].query(sql).to_a
end

Thread.new do
  loop do
    query("/*job*/ SELECT 'a job' AS job")
    sleep 0.02
  end
end

run(lambda do |env|
  tag = "/*#{env['REQUEST_METHOD']} #{env['PATH_INFO']}*/ "
  case env['PATH_INFO']
  when '/one'
    query(tag + 'SELECT 1 + 1')
  when '/posts'
    query(tag + 'SELECT 20 AS posts')
    20.times { |i| query(tag + "SELECT 'user', #{i}") }
  when '/prepared'
    Thread.current[:db] ||= CONNECT.call
    st = Thread.current[:db].prepare(tag + "SELECT 'prepared', ?")
    3.times { |i| st.execute(i).to_a }
    st.close
  when '/slow'
    query(tag + "SELECT 'slow', SLEEP(0.05)")
  when '/start'
    system('/bin/sh', '-c', 'true; /bin/true')
  end
  [200, { 'Content-Type' => 'text/plain' }, ["ok\n"]]
end)
